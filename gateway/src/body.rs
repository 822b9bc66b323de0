//! Bodies of requests: read within limits, or taken and forgotten.

use std::time::Duration;

use axum::body::{Body, Bytes};
use deepseek_codec::protocol::Failure;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::{Instant, timeout, timeout_at};

use crate::config::{Limits, seconds};
use crate::refusal::Refusal;

/// How long what comes of a refused body is taken, and how long a gap in it may be.
const DISCARDING: Duration = Duration::from_secs(10);
const GAP: Duration = Duration::from_millis(500);

/// The whole body.
pub(crate) async fn read(body: &mut Body, limits: &Limits) -> Result<Bytes, Refusal> {
    let whole = timeout(seconds(limits.body_seconds), Limited::new(body, limits.body_bytes).collect()).await;
    let whole = whole.map_err(|_| Refusal::failure(Failure::Slow, "The body took too long."))?;
    let whole = whole.map_err(|error| {
        if error.is::<LengthLimitError>() {
            return too_large(limits);
        }
        Refusal::failure(Failure::Body, "The body did not arrive as a whole.")
    })?;
    Ok(whole.to_bytes())
}

pub(crate) fn too_large(limits: &Limits) -> Refusal {
    let message = format!("The body is too large: at most {} bytes are accepted.", limits.body_bytes);
    Refusal::failure(Failure::TooLarge, message)
}

/// Takes what is left of a body, up to twice the largest, and forgets it. Clients send the whole of it before they look
/// at the answer, and would find a closed connection instead of their refusal.
pub(crate) async fn discard(body: &mut Body, limits: &Limits) {
    let end = Instant::now() + DISCARDING;
    let mut left = limits.body_bytes.saturating_mul(2);
    while let Ok(Some(Ok(frame))) = timeout_at(end.min(Instant::now() + GAP), body.frame()).await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        if length > left {
            return;
        }
        left -= length;
    }
}
