//! Token ids, and the roles of special tokens.
//!
//! A prompt names special tokens by [`Special`], never by spelling or id: a spelling is text, which a
//! request can contain, and ids belong to one vocabulary. A [`Tokenizer`](crate::tokenizer::Tokenizer)
//! binds every role to an id when it is loaded.

use std::fmt;

/// The id of one token in a vocabulary.
///
/// A type of its own, so that ids are not mixed up with byte offsets, counts and call indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct TokenId(pub u32);

impl TokenId {
    /// The id as an index into a table with one entry a token.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<u32> for TokenId {
    fn from(id: u32) -> Self {
        Self(id)
    }
}

impl From<TokenId> for u32 {
    fn from(id: TokenId) -> Self {
        id.0
    }
}

macro_rules! specials {
    ($($(#[$doc:meta])* $name:ident = $spelling:literal,)*) => {
        /// The role of a special token: the closed set of tokens that are not text.
        ///
        /// A role is not tied to a vocabulary. The spelling is the one that people read in prompts and logs;
        /// two vocabularies may spell the same role differently, and not every vocabulary has every role.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Special { $($(#[$doc])* $name,)* }

        impl Special {
            /// Every role, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// How the role is shown in text, for example `<｜User｜>`.
            #[must_use]
            pub const fn spelling(self) -> &'static str {
                match self { $(Self::$name => $spelling,)* }
            }
        }
    };
}

specials! {
    /// Starts every prompt.
    Bos = "<｜begin▁of▁sentence｜>",
    /// Ends an assistant message.
    Eos = "<｜end▁of▁sentence｜>",
    /// Fills batches; never part of a prompt.
    Pad = "<｜▁pad▁｜>",
    /// Starts a system message, in models that have a token for it.
    System = "<｜System｜>",
    /// Starts a user turn.
    User = "<｜User｜>",
    /// Starts an assistant turn.
    Assistant = "<｜Assistant｜>",
    /// Starts a latest-reminder message.
    LatestReminder = "<｜latest_reminder｜>",
    /// Opens the reasoning of an assistant turn.
    ThinkStart = "<think>",
    /// Closes the reasoning of an assistant turn, or stands alone where there is none.
    ThinkEnd = "</think>",
    /// Stands in every tag of tool-call markup.
    Dsml = "｜DSML｜",
    /// Stands for one image.
    Image = "<｜image｜>",
    /// Opens a grounding reference.
    Ref = "<｜ref｜>",
    /// Closes a grounding reference.
    RefEnd = "<｜/ref｜>",
    /// Opens a grounding box.
    Box = "<｜box｜>",
    /// Closes a grounding box.
    BoxEnd = "<｜/box｜>",
    /// Opens a grounding point.
    Point = "<｜point｜>",
    /// Closes a grounding point.
    PointEnd = "<｜/point｜>",
    /// Opens a grounding polygon.
    Polygon = "<｜polygon｜>",
    /// Closes a grounding polygon.
    PolygonEnd = "<｜/polygon｜>",
    /// Marks the gap in a fill-in-the-middle prompt.
    FimHole = "<｜fim▁hole｜>",
    /// Starts a fill-in-the-middle prompt.
    FimBegin = "<｜fim▁begin｜>",
    /// Ends a fill-in-the-middle prompt.
    FimEnd = "<｜fim▁end｜>",
}

impl Special {
    /// The grounding roles: the only ones that assistant text may contain, because the model itself writes
    /// them into its answers and reasoning.
    pub const GROUNDING: &'static [Self] = &[
        Self::Ref,
        Self::RefEnd,
        Self::Box,
        Self::BoxEnd,
        Self::Point,
        Self::PointEnd,
        Self::Polygon,
        Self::PolygonEnd,
    ];

    /// The role's place in [`Special::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spelling())
    }
}
