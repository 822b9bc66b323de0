//! All tests of the gateway in one binary: a server inside the test, and a client that speaks to it by HTTP.

// The lint spares test functions, but not what they call.
#![allow(clippy::unwrap_used)]

mod cancelling;
#[cfg(feature = "candle")]
mod candle;
mod cases;
#[cfg(feature = "candle")]
mod checkpoint;
mod configuration;
mod ending;
mod limits;
mod local;
mod prefix;
mod program;
mod server;
mod upstream;
