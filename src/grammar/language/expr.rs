//! What a pattern says, before it becomes an automaton.

use super::chars::Chars;

/// A regular expression. Groups and whether a quantifier is lazy do not matter for membership.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    /// The empty text.
    Empty,
    /// A character of a set: an index into [`Parsed::sets`].
    Set(usize),
    Concat(Vec<Self>),
    Alt(Vec<Self>),
    Repeat {
        inner: Box<Self>,
        min: u32,
        max: Option<u32>,
    },
    /// The start of the text.
    Start,
    /// The end of the text.
    End,
    /// A condition on what stands before or after this place.
    Look(Box<Look>),
}

/// What a look-around asks.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Look {
    pub(super) is_behind: bool,
    pub(super) is_negative: bool,
    pub(super) inner: Expr,
}

/// A pattern and the sets of characters in it.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) expr: Expr,
    pub(super) sets: Vec<Chars>,
}

impl Expr {
    pub(super) fn concat(mut parts: Vec<Self>) -> Self {
        match parts.len() {
            0 => Self::Empty,
            1 => parts.remove(0),
            _ => Self::Concat(parts),
        }
    }

    pub(super) fn alt(mut parts: Vec<Self>) -> Self {
        if parts.len() == 1 { parts.remove(0) } else { Self::Alt(parts) }
    }

    /// A look-around.
    pub(super) fn look(is_behind: bool, is_negative: bool, inner: Self) -> Self {
        Self::Look(Box::new(Look { is_behind, is_negative, inner }))
    }

    /// Whether it has a look-around.
    pub(super) fn looks(&self) -> bool {
        match self {
            Self::Empty | Self::Set(_) | Self::Start | Self::End => false,
            Self::Concat(parts) | Self::Alt(parts) => parts.iter().any(Self::looks),
            Self::Repeat { inner, .. } => inner.looks(),
            Self::Look(_) => true,
        }
    }

    /// The number of characters of every text it matches, if they all have the same.
    pub(super) fn width(&self) -> Option<u64> {
        match self {
            Self::Set(_) => Some(1),
            Self::Empty | Self::Start | Self::End | Self::Look(_) => Some(0),
            Self::Concat(parts) => parts.iter().try_fold(0u64, |sum, part| sum.checked_add(part.width()?)),
            Self::Alt(parts) => {
                let first = parts.first()?.width();
                parts.iter().all(|part| part.width() == first).then_some(first)?
            }
            Self::Repeat { inner, min, max } if *max == Some(*min) => {
                inner.width()?.checked_mul((*min).into())
            }
            Self::Repeat { .. } => None,
        }
    }
}
