//! An HTTP server that speaks OpenAI Chat Completions, OpenAI Responses and Anthropic Messages in front of an engine.
//!
//! What a request means and what an answer looks like is decided by `deepseek-codec`; what a token is, by an
//! [`engine`]. Here are the routes between them, and what a server owes its operator: keys, limits, logs, counts.
//!
//! ```text
//! routes ── limits, keys ──▶ request: body → Session(s), masks ── engine::Engine::start ──▶ Sequence
//!   answer: Sequence → token → Session → events, or the complete response ──▶ client
//! ```

pub mod answer;
mod body;
pub mod config;
pub mod engine;
pub mod flags;
pub mod keys;
pub mod metrics;
mod patience;
pub mod refusal;
pub mod request;
pub mod routes;
pub mod server;
pub mod state;
