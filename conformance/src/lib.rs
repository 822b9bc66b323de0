//! Differential tests of `deepseek-codec` against the official conversion.

pub mod blocks;
pub mod body;
pub mod corpus;
pub mod divergence;
pub mod errors;
pub mod export;
pub mod generate;
pub mod golds;
pub mod outcome;
pub mod reference;
pub mod report;
pub mod run;
pub mod shrink;
pub mod streams;
pub mod subject;
