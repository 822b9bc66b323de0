//! Answers on their way: tokens of sequences become events, and the events of all answers become one body.
//!
//! An answer is pulled by the connection that it goes to. Nothing runs for it elsewhere, so that a client that goes away
//! takes everything with it.

use std::pin::Pin;
use std::time::Duration;

use axum::body::Body;
use deepseek_codec::engine::{LogitMask, Session};
use deepseek_codec::json::Json;
use deepseek_codec::protocol::chat::{Choices, join_choices};
use deepseek_codec::protocol::{Chunk, EventSink, Usage};
use futures_util::stream::{self, Stream, StreamExt};
use tokio::time::{Instant, timeout, timeout_at};

use crate::config::{Limits, seconds};
use crate::engine::{EngineError, EngineErrorKind, Next, Sequence};
use crate::metrics::{Outcome, Record};
use crate::state::Permit;

/// An answer, or several to one request.
pub struct Answer {
    pieces: Pin<Box<dyn Stream<Item = Piece> + Send>>,
    /// Makes one stream of several.
    choices: Option<Choices>,
    /// What is sent when nothing came for so long.
    ping: (&'static [u8], Duration),
    record: Record,
    /// How many answers have not ended.
    left: usize,
    /// The complete answers, if they are wanted as such.
    responses: Vec<Json>,
    _permit: Permit,
}

/// What one step of one answer brought.
struct Piece {
    events: Events,
    is_token: bool,
    end: Option<End>,
}

/// Events, in the form that goes on.
enum Events {
    Text(String),
    Chunks(Vec<Chunk>),
}

struct End {
    index: usize,
    usage: Usage,
    error: Option<EngineError>,
    response: Option<Json>,
}

/// One answer that is being generated.
struct Part {
    index: usize,
    session: Session,
    /// Nothing once the answer has ended.
    sequence: Option<Sequence>,
    has_started: bool,
    has_token: bool,
    is_streamed: bool,
    /// Whether its events are joined with others.
    is_joined: bool,
    waits: Waits,
}

/// How long a part waits.
#[derive(Debug, Clone, Copy)]
struct Waits {
    first: Duration,
    token: Duration,
    end: Instant,
}

impl Answer {
    /// The answer that these sequences make. `streamed` says whether it is sent while it comes.
    #[must_use]
    pub fn new(
        parts: Vec<(Session, Sequence)>,
        is_streamed: bool,
        limits: &Limits,
        record: Record,
        permit: Permit,
    ) -> Self {
        let count = parts.len();
        let waits = Waits {
            first: seconds(limits.first_token_seconds),
            token: seconds(limits.token_seconds),
            end: Instant::now() + seconds(limits.answer_seconds),
        };
        let ping = parts.first().map_or(&b""[..], |(session, _)| session.stream().ping());
        let streams = parts.into_iter().enumerate().map(|(index, (session, sequence))| {
            let part = Part {
                index,
                session,
                sequence: Some(sequence),
                has_started: false,
                has_token: false,
                is_streamed,
                is_joined: count > 1,
                waits,
            };
            stream::unfold(part, Part::step).boxed()
        });
        let mut streams: Vec<_> = streams.collect();
        let pieces: Pin<Box<dyn Stream<Item = Piece> + Send>> = match (streams.pop(), streams.is_empty()) {
            (Some(only), true) => only,
            (last, _) => Box::pin(stream::select_all(streams.into_iter().chain(last))),
        };
        Self {
            pieces,
            choices: (count > 1).then(|| Choices::new(count)),
            ping: (ping, seconds(limits.ping_seconds)),
            record,
            left: count,
            responses: vec![Json::Null; count],
            _permit: permit,
        }
    }

    /// The answer as server-sent events.
    pub fn into_body(self) -> Body {
        let events = stream::unfold(self, |mut answer| async move {
            let text = answer.text().await?;
            Some((Ok::<_, std::convert::Infallible>(text), answer))
        });
        Body::from_stream(events)
    }

    /// The next text to send; nothing at the end.
    async fn text(&mut self) -> Option<Vec<u8>> {
        loop {
            let (ping, silence) = self.ping;
            if self.choices.as_ref().is_some_and(Choices::have_ended) {
                return None;
            }
            let Ok(piece) = timeout(silence, self.pieces.next()).await else { return Some(ping.to_vec()) };
            let mut piece = piece?;
            self.note(&mut piece);
            let text = match (piece.events, &mut self.choices) {
                (Events::Text(text), _) => text.into_bytes(),
                (Events::Chunks(mut chunks), choices) => {
                    if let Some(choices) = choices {
                        choices.pass(&mut chunks);
                    }
                    let mut text = Vec::new();
                    chunks.iter().for_each(|chunk| chunk.write_sse(&mut text));
                    text
                }
            };
            if !text.is_empty() {
                return Some(text);
            }
        }
    }

    /// The complete answer.
    ///
    /// # Errors
    ///
    /// If the engine failed.
    pub async fn complete(mut self) -> Result<Json, EngineError> {
        while let Some(mut piece) = self.pieces.next().await {
            self.note(&mut piece);
            if let Some(End { error: Some(error), .. }) = piece.end {
                return Err(error);
            }
        }
        let mut responses = self.responses.into_iter();
        match (responses.len(), self.choices) {
            (1, _) | (_, None) => Ok(responses.next().unwrap_or_default()),
            (_, Some(_)) => Ok(join_choices(responses).unwrap_or_default()),
        }
    }

    /// Counts what came.
    fn note(&mut self, piece: &mut Piece) {
        if piece.is_token {
            self.record.token();
        }
        let Some(end) = &mut piece.end else { return };
        self.left -= 1;
        self.record.usage(end.usage);
        if let Some(response) = end.response.take() {
            self.responses[end.index] = response;
        }
        match &end.error {
            Some(error) => self.record.end(Outcome::Failed(error.to_string())),
            None if self.left == 0 => self.record.end(Outcome::Complete),
            None => {}
        }
    }
}

impl Part {
    async fn step(mut self) -> Option<(Piece, Self)> {
        self.sequence.as_ref()?;
        let mut events =
            if self.is_joined { Events::Chunks(Vec::new()) } else { Events::Text(String::new()) };
        let piece = |events, is_token| Piece { events, is_token, end: None };
        if !std::mem::replace(&mut self.has_started, true) && self.is_streamed {
            self.session.start(events.sink());
            return Some((piece(events, false), self));
        }
        let next = self.next().await;
        let is_token = matches!(next, Ok(Next::Token(_)));
        let pushed = match next {
            Ok(Next::Token(step)) => self.session.push(&step, events.sink()).map_err(|_| {
                EngineError::failed(format!("the engine chose token {}, which the mask forbids", step.id.0))
            }),
            Ok(Next::Cached(tokens)) => {
                self.session.set_cached_tokens(tokens);
                Ok(())
            }
            Ok(Next::End(finish)) => {
                self.session.finish(finish, events.sink());
                Ok(())
            }
            Err(error) => Err(error),
        };
        if let Err(error) = &pushed {
            self.session.fail(error.told(), events.sink());
        }
        let mut piece = piece(events, is_token);
        if self.session.is_over() {
            // Whatever the engine still has in mind is not wanted.
            self.sequence = None;
            let stream = self.session.stream();
            piece.end = Some(End {
                index: self.index,
                usage: stream.usage(),
                error: pushed.err(),
                response: (!self.is_streamed).then(|| stream.response()),
            });
        }
        Some((piece, self))
    }

    async fn next(&mut self) -> Result<Next, EngineError> {
        let wait =
            if std::mem::replace(&mut self.has_token, true) { self.waits.token } else { self.waits.first };
        let until = (Instant::now() + wait).min(self.waits.end);
        let mask = self.session.mask();
        if mask.is_some_and(LogitMask::is_empty) {
            return Err(EngineError::failed("no token may come next"));
        }
        let Some(sequence) = &mut self.sequence else { return Err(EngineError::failed("it has ended")) };
        let late = |_| EngineError { kind: EngineErrorKind::Timeout, detail: "a token is late".to_owned() };
        timeout_at(until, sequence.next(mask)).await.map_err(late)?
    }
}

impl Events {
    fn sink(&mut self) -> EventSink<'_> {
        match self {
            Self::Text(text) => text.into(),
            Self::Chunks(chunks) => chunks.into(),
        }
    }
}
