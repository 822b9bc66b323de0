//! Server-sent events, as far as engines use them: the data of each.

use crate::engine::EngineError;

/// The largest event: the ids of a long answer, all of which SGLang may repeat in each event.
const MAX_EVENT_BYTES: usize = 16 << 20;

/// What came and was not read yet.
#[derive(Debug, Default)]
pub(super) struct Events {
    bytes: Vec<u8>,
    /// Up to here there is no end of a line.
    searched: usize,
}

impl Events {
    pub(super) fn push(&mut self, data: &[u8]) -> Result<(), EngineError> {
        if self.bytes.len() + data.len() > MAX_EVENT_BYTES {
            return Err(EngineError::failed("an event of the engine is too long"));
        }
        self.bytes.extend_from_slice(data);
        Ok(())
    }

    /// The data of the next line that has any. Engines write it in one line.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            let Some(end) = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n') else {
                self.searched = self.bytes.len();
                return None;
            };
            let line: Vec<u8> = self.bytes.drain(..=self.searched + end).collect();
            self.searched = 0;
            if let Some(data) = line.strip_prefix(b"data:") {
                return Some(data.trim_ascii().to_vec());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_whole_however_they_are_cut() {
        let text = ": note\r\ndata: {\"a\": 1}\r\n\r\nevent: x\ndata:{\"ü\":2}\n\ndata: [DONE]\n\n";
        for size in 1..text.len() {
            let mut events = Events::default();
            let mut came = Vec::new();
            for part in text.as_bytes().chunks(size) {
                events.push(part).unwrap();
                came.extend(std::iter::from_fn(|| events.next()));
            }
            assert_eq!(came, ["{\"a\": 1}", "{\"ü\":2}", "[DONE]"].map(|text| text.as_bytes().to_vec()));
        }
    }

    #[test]
    fn endless_lines_are_given_up() {
        let mut events = Events::default();
        let part = vec![b'x'; MAX_EVENT_BYTES / 2];
        assert!(events.push(&part).is_ok() && events.push(&part).is_ok());
        assert!(events.next().is_none() && events.push(b"x").is_err());
    }
}
