//! Where a stream's events go.

use crate::json::{Json, Style, push_escaped};

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
    /// The same place, for a while.
    pub fn reborrow(&mut self) -> EventSink<'_> {
        match self {
            Self::Chunks(chunks) => EventSink::Chunks(chunks),
            Self::Sse(text) => EventSink::Sse(text),
        }
    }

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

    /// Sends an event with this JSON.
    pub(super) fn send_json(&mut self, event: Option<&'static str>, data: &Json) {
        self.send(event, 256, |out| data.write_to(Style::Compact, out).expect("a String takes any text"));
    }

    /// Sends an event of which there are many: what `frame` says, with `text` in it, and at the end of a numbered one
    /// the number.
    #[inline]
    pub(super) fn send_delta(&mut self, frame: &Frame, text: &str, number: Option<&Sequence>) {
        match self {
            Self::Sse(out) => {
                out.push_str(&frame.front);
                push_escaped(out, text);
                out.push_str(&frame.behind);
                if let Some(number) = number {
                    number.write(out);
                    out.push_str("}\n\n");
                }
            }
            Self::Chunks(chunks) => {
                let (front, behind) = (&frame.front[frame.data_at..], frame.behind.trim_end_matches('\n'));
                let length = front.len() + text.len() + behind.len();
                let mut data = String::with_capacity(length + length / 8 + 16);
                data.push_str(front);
                push_escaped(&mut data, text);
                data.push_str(behind);
                if let Some(number) = number {
                    number.write(&mut data);
                    data.push('}');
                }
                chunks.push(Chunk { event: frame.event, data });
            }
        }
    }

    /// Sends an event with this data.
    pub(super) fn send_text(&mut self, event: Option<&'static str>, data: &str) {
        self.send(event, data.len(), |out| out.push_str(data));
    }
}

/// What the events have in common that differ only in a text, and perhaps in a number at the end of their object.
#[derive(Debug, Clone, Default)]
pub(super) struct Frame {
    event: Option<&'static str>,
    /// The server-sent event up to the text, which stands in a JSON string.
    front: String,
    /// Where in it the data begins.
    data_at: usize,
    /// What stands behind the text: up to the number, if there is one.
    behind: String,
}

impl Frame {
    /// Of events named `event` whose data is `front`, the inside of a JSON string, and `behind`.
    pub(super) fn new(event: Option<&'static str>, front: &str, behind: &str) -> Self {
        Self::numbered(event, front, &format!("{behind}\n\n"))
    }

    /// The same for data that goes on with a number, which ends the object.
    pub(super) fn numbered(event: Option<&'static str>, front: &str, behind: &str) -> Self {
        let mut start = event.map_or_else(String::new, |event| format!("event: {event}\n"));
        start.push_str("data: ");
        let data_at = start.len();
        Self { event, front: start + front, data_at, behind: behind.to_owned() }
    }
}

/// The number of an event. Events are many, so its digits are kept.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequence {
    number: u64,
    /// Those in front of the last two.
    hundreds: String,
}

/// The decimal numbers of two digits.
const PAIRS: &str = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748\
    4950515253545556575859606162636465666768697071727374757677787980818283848586878889909192939495969798\
    99";

impl Sequence {
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// Goes on to the next event.
    pub(super) fn advance(&mut self) {
        self.number += 1;
        if self.number.is_multiple_of(100) {
            self.hundreds = (self.number / 100).to_string();
        }
    }

    fn write(&self, out: &mut String) {
        let pair = (self.number % 100) as usize * 2;
        let pair = &PAIRS[pair..pair + 2];
        out.push_str(&self.hundreds);
        out.push_str(if self.number < 10 { &pair[1..] } else { pair });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_in_decimal() {
        let mut sequence = Sequence::default();
        for number in 0..12_345_u64 {
            let mut text = String::new();
            sequence.write(&mut text);
            assert_eq!((text, sequence.number()), (number.to_string(), number));
            sequence.advance();
        }
    }
}
