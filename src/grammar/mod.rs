//! What text a model may write, and which tokens may come next.
//!
//! [`language`] holds regular languages (patterns, formats, lengths, sets of words), [`number`] sets of numbers, and
//! [`value`] the form in which JSON values reach a matcher. A [`Grammar`] puts text, special tokens and JSON values
//! into rules. A [`Compiler`] arranges a vocabulary once; what it compiles is shared by any number of sequences, each
//! with a [`Matcher`] of its own that says at each step which tokens may come next.

mod ahead;
mod bytes;
mod closing;
mod contents;
mod frames;
mod inside;
mod keys;
mod known;
pub mod language;
mod layout;
mod left;
mod machine;
mod mask;
mod matcher;
mod names;
mod notation;
pub mod number;
mod parts;
mod peek;
mod program;
mod residue;
mod rules;
mod shared;
mod slices;
mod string;
#[cfg(test)]
mod tests;
mod text;
mod trie;
pub mod value;
mod walk;
mod words;

#[cfg(feature = "parallel")]
pub use ahead::fill_masks;
pub use layout::{Layout, Order, Whitespace};
pub use mask::{is_allowed, mask_words};
pub use matcher::{CompileError, Compiled, Compiler, Matcher, Rejected};
pub use rules::{Expr, Grammar, GrammarError, Members, RuleId};
pub use text::{TextError, TextFault};
