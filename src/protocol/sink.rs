//! Where a stream's events go.

use super::stream::push_escaped;

/// One streamed event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The event's name, in the APIs that name events.
    pub event: Option<&'static str>,
    /// The event's data: JSON text, or `[DONE]`.
    pub data: String,
}

impl Chunk {
    /// Appends the event as server-sent event bytes.
    pub fn write_sse(&self, out: &mut Vec<u8>) {
        if let Some(event) = self.event {
            out.extend_from_slice(b"event: ");
            out.extend_from_slice(event.as_bytes());
            out.push(b'\n');
        }
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(self.data.as_bytes());
        out.extend_from_slice(b"\n\n");
    }
}

/// Where events go: to a list, one by one, or to a text, as server-sent events. The text spares an allocation for each
/// event.
#[derive(Debug)]
pub enum EventSink<'s> {
    /// To a list.
    Chunks(&'s mut Vec<Chunk>),
    /// To the end of a text.
    Sse(&'s mut String),
}

impl<'s> From<&'s mut Vec<Chunk>> for EventSink<'s> {
    fn from(chunks: &'s mut Vec<Chunk>) -> Self {
        Self::Chunks(chunks)
    }
}

impl<'s> From<&'s mut String> for EventSink<'s> {
    fn from(text: &'s mut String) -> Self {
        Self::Sse(text)
    }
}

impl EventSink<'_> {
    /// Sends an event whose data `write` appends, about `length` bytes.
    pub(super) fn send(
        &mut self,
        event: Option<&'static str>,
        length: usize,
        write: impl FnOnce(&mut String),
    ) {
        match self {
            Self::Chunks(chunks) => {
                let mut data = String::with_capacity(length);
                write(&mut data);
                chunks.push(Chunk { event, data });
            }
            Self::Sse(text) => {
                if let Some(event) = event {
                    text.push_str("event: ");
                    text.push_str(event);
                    text.push('\n');
                }
                text.push_str("data: ");
                write(text);
                text.push_str("\n\n");
            }
        }
    }

    /// Sends an event of which there are many: `frame` is `event: NAME`, a line end and `data: ` (or `data: ` alone), the
    /// data is `front`, the inside of a JSON string and what `behind` appends.
    pub(super) fn send_delta(
        &mut self,
        frame: &'static str,
        front: &str,
        text: &str,
        behind: impl FnOnce(&mut String),
    ) {
        let write = |out: &mut String| {
            out.push_str(front);
            push_escaped(out, text);
            behind(out);
        };
        match self {
            Self::Chunks(chunks) => {
                let mut data = String::with_capacity(front.len() + text.len() + 128);
                write(&mut data);
                let event = frame.strip_prefix("event: ").and_then(|rest| rest.split('\n').next());
                chunks.push(Chunk { event, data });
            }
            Self::Sse(out) => {
                out.push_str(frame);
                write(out);
                out.push_str("\n\n");
            }
        }
    }

    /// Sends an event with this data.
    pub(super) fn send_text(&mut self, event: Option<&'static str>, data: &str) {
        self.send(event, data.len(), |out| out.push_str(data));
    }
}
