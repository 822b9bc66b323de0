//! Model versions as values: how a conversation is worded for each.
//!
//! Nothing outside this module knows that there is more than one version, nor any version's name. A version is a
//! [`Profile`]: its names, its vocabulary, what it can take, and its way to render. Rendering is total and is
//! the only code that writes special tokens.
//!
//! ```
//! use deepseek_codec::conversation::{Conversation, Message, Thinking};
//! use deepseek_codec::model::Profile;
//!
//! let conversation = Conversation {
//!     messages: vec![Message::User { content: "hi".into() }],
//!     thinking: Thinking::Off,
//!     ..Conversation::default()
//! };
//! let prompt = Profile::by_name("deepseek-v4-pro").unwrap().render(&conversation);
//! assert_eq!(prompt.to_string(), "<｜begin▁of▁sentence｜><｜User｜>hi<｜Assistant｜></think>");
//! ```

use std::fmt;

use crate::conversation::{Conversation, Image};
use crate::prompt::Prompt;
use crate::tokenizer::{LoadError, Tokenizer, Vocabulary};

/// A list of special tokens by role and id, under their usual spelling or those given.
macro_rules! special_tokens {
    (@spellings $role:ident) => { &[Special::$role.spelling()] };
    (@spellings $role:ident $($spelling:literal)+) => { &[$($spelling),+] };
    ($($role:ident = $id:literal $(as $($spelling:literal)|+)?,)*) => {
        [$($crate::tokenizer::SpecialToken {
            role: Special::$role,
            id: $crate::token::TokenId($id),
            spellings: special_tokens!(@spellings $role $($($spelling)+)?),
        }),*]
    };
}

mod dsml;
#[cfg(test)]
mod tests;
mod v4;
mod v41;
mod wording;

pub use dsml::Dsml;

/// A model version.
pub struct Profile {
    name: &'static str,
    aliases: &'static [&'static str],
    vocabulary: &'static Vocabulary,
    capabilities: Capabilities,
    dsml: Dsml,
    apply_patch: &'static str,
    top_p: fn(TopP) -> f32,
    render: fn(&Profile, &Conversation) -> Prompt,
    images: for<'c> fn(&'c Conversation) -> Vec<&'c Image>,
}

/// Every model version, oldest first.
pub const PROFILES: &[&Profile] = &[&v4::PRO, &v41::FLASH];

/// What a model version can take beyond text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Images. Without it, an image becomes a note in its place.
    pub images: bool,
    /// System messages after the first turn, and tools that they introduce.
    pub mid_conversation_system: bool,
    /// How a function inside a namespace is named: `namespace::name`, or else `namespace__name`. With it, the
    /// namespace's description stands in front of the function's.
    pub qualified_names: bool,
}

/// What decides the `top_p` that a model samples with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TopP {
    /// The request's value.
    pub requested: Option<f32>,
    /// Whether the turn starts with reasoning.
    pub thinking: bool,
    /// Whether the model may call tools.
    pub tools: bool,
}

impl Profile {
    /// The version with the official name or alias `name`, exactly as spelled.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PROFILES.iter().copied().find(|profile| profile.names().any(|known| known == name))
    }

    /// The official name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The official name and all aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// What the version can take.
    #[must_use]
    pub const fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// The tag names of the version's tool-call markup.
    #[must_use]
    pub const fn dsml(&self) -> &Dsml {
        &self.dsml
    }

    /// The description of the custom tool `apply_patch`, which this version was trained with.
    #[must_use]
    pub const fn apply_patch_description(&self) -> &'static str {
        self.apply_patch
    }

    /// The `top_p` that the version samples with.
    #[must_use]
    pub fn top_p(&self, of: TopP) -> f32 {
        (self.top_p)(of)
    }

    /// What the version's vocabulary has on top of the base vocabulary.
    #[must_use]
    pub const fn vocabulary(&self) -> &'static Vocabulary {
        self.vocabulary
    }

    /// The version's tokenizer, from the vocabulary inside this crate.
    #[cfg(feature = "vocab")]
    #[must_use]
    pub fn tokenizer(&self) -> Tokenizer {
        Tokenizer::embedded(self.vocabulary)
    }

    /// A tokenizer for the version from a Hugging Face tokenizer.json.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if the file is of another kind, or lacks one of the version's special tokens.
    pub fn load_tokenizer(&self, json: &[u8]) -> Result<Tokenizer, LoadError> {
        Tokenizer::from_json_for(json, self.vocabulary)
    }

    /// A tokenizer for the version from one of Hugging Face's library, whatever its pre-tokenizer.
    ///
    /// # Errors
    ///
    /// As [`wrap`](crate::tokenizer::hf::wrap), or if it lacks one of the version's special tokens.
    #[cfg(feature = "hf")]
    pub fn wrap_tokenizer(&self, tokenizer: &tokenizers::Tokenizer) -> Result<Tokenizer, LoadError> {
        crate::tokenizer::hf::wrap_for(tokenizer, self.vocabulary)
    }

    /// The prompt of `conversation`, up to where the model goes on: the start of the next assistant turn, or the
    /// unfinished message that it continues.
    #[must_use]
    pub fn render(&self, conversation: &Conversation) -> Prompt {
        (self.render)(self, conversation)
    }

    /// The images of `conversation` in the order of their placeholders in the prompt.
    #[must_use]
    pub fn images<'c>(&self, conversation: &'c Conversation) -> Vec<&'c Image> {
        (self.images)(conversation)
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Profile").field(&self.name).finish()
    }
}

/// Profiles are compared by name: each version exists once.
impl PartialEq for Profile {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Profile {}
