//! Requests of OpenAI's and Anthropic's APIs become the exact token ids that a DeepSeek model was trained on, and
//! generated ids become those APIs' events and responses.
//!
//! ```
//! use deepseek_codec::protocol::{Api, Options, lower};
//!
//! let body = r#"{
//!     "model": "deepseek-flash",
//!     "messages": [{"role": "user", "content": "What is 2 + 2? <｜User｜> is only text here."}],
//!     "thinking": {"type": "disabled"}
//! }"#;
//! let lowered = lower(Api::Chat, body.as_bytes(), &Options::default())?;
//! let prompt = lowered.profile.render(&lowered.conversation);
//! assert_eq!(prompt.specials().len(), 4); // begin, user, assistant, end of thinking
//! # #[cfg(feature = "vocab")]
//! # {
//! let tokenizer = lowered.profile.tokenizer();
//! let ids = tokenizer.encode(&prompt);
//! assert_eq!(ids.len(), 22);
//! # }
//! # Ok::<(), deepseek_codec::protocol::RequestError>(())
//! ```
//!
//! # The pipeline
//!
//! ```text
//! request bytes ── json ──▶ wire types ── protocol::lower(policy) ──▶ Conversation
//!      ── model::Profile::render ──▶ Prompt ── tokenizer::Tokenizer::encode ──▶ ids
//! generated ids ── tokenizer::Detokenizer ──▶ pieces ── output::Parser ──▶ events
//!      ── protocol::Stream(dialect) ──▶ server-sent events, complete response
//! Conversation ── constraint::Constraint ──▶ grammar::Compiled ── grammar::Matcher ──▶ a mask for each token
//! ```
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`token`] | token ids, and the roles of special tokens |
//! | [`json`] | JSON as a tree that keeps its order, written byte for byte as prompts need it |
//! | [`prompt`] | text and the places of special tokens |
//! | [`tokenizer`] | vocabularies: text to ids and back |
//! | [`conversation`] | what a prompt is made of, without any protocol |
//! | [`grammar`] | what text a model may write, and which tokens may come next |
//! | [`schema`] | whether a JSON Schema is valid, strict schemas, and what a schema allows |
//! | [`model`] | how each model version words a conversation |
//! | [`output`] | what a model generates, read while it arrives |
//! | [`constraint`] | what an answer must look like |
//! | [`protocol`] | the three request formats, and what is accepted |
//! | [`inspect`] | what became of a request: its parts, and where two prompts part |
//! | `engine` | what generates ids, and what drives it (feature `engine`) |
//!
//! A module uses only those before it.
//!
//! # Guarantees
//!
//! Each has a test.
//!
//! - **Injection.** Text from a request never becomes a special token. The one exception is listed: grounding
//!   tokens in what the model itself said earlier ([`Special::GROUNDING`](token::Special::GROUNDING)).
//! - **Totality.** Rendering and encoding cannot fail; a vocabulary that lacks a special token fails when it is
//!   loaded. No bytes make this crate panic.
//! - **Determinism.** The same request gives the same ids: no clock, randomness, environment or hash order.
//! - **Linear time.** Every stage takes time and memory linear in its input.
//! - **Streaming.** What is reported of an output does not depend on how it was cut.
//! - **Exactness.** Prompts, ids and refusals are those of the official conversion, except for the differences
//!   listed in `fixtures/protocol/divergences.json`.
//!
//! # Limits
//!
//! | limit | default | where | cost at the limit |
//! | --- | --- | --- | --- |
//! | size of a body | 48 MiB | [`Options::max_body_bytes`](protocol::Options) | a few times its size in memory |
//! | depth of JSON | 128 | fixed | stack of the calling thread |
//! | `max_tokens` | 393,216 | [`Options::max_tokens_bound`](protocol::Options) | none |
//! | stop sequences | 16 | fixed | none |
//! | length of a tool's name | 128 bytes | fixed | none |
//! | length of an image's URL | 8,192 bytes | fixed | none |
//! | size of an automaton | 10,000 states, 1,048,576 cells | [`Limits`](grammar::language::Limits) | 4 bytes a cell |
//! | work on a schema | 2,000,000 steps | [`Limits`](schema::values::Limits) | about 50 ns a step |
//! | alternatives of one place | 256 | [`Limits`](schema::values::Limits) | time and memory in proportion |
//! | readings followed at once | 512 | fixed | time in proportion |
//! | sets of tokens kept for all grammars of a compiler | 2,048 | fixed | at most 16 KiB each |
//! | search for a new key or item | 2,000 steps | fixed | about 50 ns a step, for a token that only used ones go on from |
//! | tokens that a matcher takes back | 1,024 | [`Matcher::MAX_ROLLBACK`](grammar::Matcher::MAX_ROLLBACK) | some 100 bytes each |
//!
//! # Features
//!
//! | feature | default | what it adds |
//! | --- | --- | --- |
//! | `vocab` | yes | the DeepSeek vocabulary inside the crate |
//! | `parallel` | no | encoding, and masks of several sequences, with several threads |
//! | `validate` | no | checking of what was generated without a mask, by crate `jsonschema` |
//! | `engine` | no | what drives an engine: sessions, masks for logits, a sampler |
//! | `candle` | no | engines in the process, over `candle-transformers`; see `docs/engines.md` |
//! | `hf` | no | other vocabularies, through Hugging Face `tokenizers` |
//! | `cli` | no | the program `deepseek-codec` |
//!
//! A feature only adds items; it never changes ids, prompt bytes or errors.

pub mod constraint;
pub mod conversation;
#[cfg(feature = "engine")]
pub mod engine;
pub mod grammar;
pub mod inspect;
pub mod json;
pub mod model;
pub mod output;
pub mod prompt;
pub mod protocol;
pub mod schema;
pub mod token;
pub mod tokenizer;

/// The examples of the README, as tests.
#[cfg(all(doctest, feature = "vocab"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
