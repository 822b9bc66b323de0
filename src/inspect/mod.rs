//! What became of a request: which part of the prompt each token belongs to, what each part costs, and where the
//! prompts of two requests part.
//!
//! ```
//! # #[cfg(feature = "vocab")]
//! # {
//! use deepseek_codec::inspect::{Explanation, View};
//! use deepseek_codec::protocol::{Api, Options, lower};
//!
//! let body = br#"{"model": "deepseek-flash", "messages": [{"role": "user", "content": "hi"}]}"#;
//! let lowered = lower(Api::Chat, body, &Options::default())?;
//! let prompt = lowered.profile.render(&lowered.conversation);
//! let view = View { lowered: &lowered, prompt: &prompt, tokenizer: &lowered.profile.tokenizer() };
//! let explanation = Explanation::of(view);
//! assert_eq!(explanation.parts.len(), 3);
//! assert_eq!(explanation.parts[1].label, "message 0: user");
//! # }
//! # Ok::<(), deepseek_codec::protocol::RequestError>(())
//! ```

use crate::prompt::Prompt;
use crate::protocol::Lowered;
use crate::tokenizer::Tokenizer;

mod convert;
mod diff;
mod explain;
mod parts;
mod report;
#[cfg(all(test, feature = "vocab"))]
mod tests;

pub use convert::convert;
pub use diff::{Difference, Parting};
pub use explain::{Explanation, PromptPart};
pub use parts::{label, placed_ids, spelled_ids};
pub use report::{report, settings};

/// A request that was accepted, its prompt, and the tokenizer that makes the prompt's ids.
#[derive(Debug, Clone, Copy)]
pub struct View<'v> {
    /// The request.
    pub lowered: &'v Lowered,
    /// Its prompt.
    pub prompt: &'v Prompt,
    /// What makes the prompt's ids.
    pub tokenizer: &'v Tokenizer,
}
