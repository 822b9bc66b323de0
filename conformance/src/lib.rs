//! Differential tests of `deepseek-codec` against the official conversion.

pub mod body;
pub mod divergence;
pub mod errors;
pub mod generate;
pub mod outcome;
pub mod reference;
pub mod run;
pub mod shrink;
pub mod subject;
