//! Several answers to one request, streamed as one.

use crate::json::Json;
use crate::protocol::Chunk;

use super::stream::add_usage;

/// Joins the streams of a request for several answers (`n`): of what each stream ends with, clients get one. What is
/// joined in [`join_choices`](super::join_choices) comes here as chunks.
///
/// Where each stream has a chunk of its own for usage, one comes at the end, for all of them. The first error ends
/// everything.
#[derive(Debug, Clone)]
pub struct Choices {
    /// Streams that have not ended.
    left: usize,
    usage: Option<Json>,
}

/// What the end of each stream is.
const DONE: &str = "[DONE]";
/// What only the chunk of usage has; in texts the quotes are escaped.
const NO_CHOICES: &str = ",\"choices\":[],\"usage\":";

impl Choices {
    /// Of so many streams.
    #[must_use]
    pub const fn new(streams: usize) -> Self {
        Self { left: streams, usage: None }
    }

    /// Whether all streams have ended, or one has failed.
    #[must_use]
    pub const fn have_ended(&self) -> bool {
        self.left == 0
    }

    /// Takes the next chunks of one of the streams, and leaves those that go to the client.
    pub fn pass(&mut self, chunks: &mut Vec<Chunk>) {
        let came = std::mem::take(chunks);
        for chunk in came {
            if self.left == 0 {
                return;
            }
            if chunk.data == DONE {
                self.left -= 1;
                if self.left == 0 {
                    chunks.extend(
                        self.usage.take().map(|usage| Chunk { event: None, data: usage.to_string() }),
                    );
                    chunks.push(chunk);
                }
            } else if chunk.data.contains(NO_CHOICES) {
                self.add(&chunk.data);
            } else {
                if chunk.data.starts_with("{\"error\":") {
                    (self.left, self.usage) = (1, None);
                }
                chunks.push(chunk);
            }
        }
    }

    fn add(&mut self, data: &str) {
        let Ok(Json::Object(mut chunk)) = Json::parse(data.as_bytes()) else { return };
        if let (Some(more), Some(before)) =
            (chunk.get("usage"), self.usage.as_ref().and_then(|chunk| chunk.get("usage")))
        {
            let usage = add_usage(before, more);
            chunk.insert("usage", usage);
        }
        self.usage = Some(chunk.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(choices: &mut Choices, data: &[&str]) -> Vec<String> {
        let mut chunks = data.iter().map(|&data| Chunk { event: None, data: data.to_owned() }).collect();
        choices.pass(&mut chunks);
        chunks.into_iter().map(|chunk| chunk.data).collect()
    }

    #[test]
    fn the_end_comes_once_with_the_usage_of_all() {
        let usage = |completion: u64| {
            format!(
                r#"{{"id":"x","choices":[],"usage":{{"prompt_tokens":5,"completion_tokens":{completion},"total_tokens":{}}}}}"#,
                completion + 5
            )
        };
        let text = r#"{"choices":[{"index":0,"delta":{"content":",\"choices\":[],\"usage\":"}}]}"#;
        let mut choices = Choices::new(3);
        assert_eq!(pass(&mut choices, &[text, "{\"a\":1}"]), [text, "{\"a\":1}"]);
        assert!(pass(&mut choices, &[&usage(1), "[DONE]"]).is_empty());
        assert!(pass(&mut choices, &[&usage(2), "[DONE]"]).is_empty() && !choices.have_ended());
        assert_eq!(pass(&mut choices, &["{}", &usage(4), "[DONE]"]), ["{}", &usage(7), "[DONE]"]);
        assert!(choices.have_ended() && pass(&mut choices, &["{}"]).is_empty());
    }

    #[test]
    fn the_first_error_ends_all() {
        let mut choices = Choices::new(2);
        assert_eq!(pass(&mut choices, &["{\"error\":{}}", "[DONE]", "never"]), ["{\"error\":{}}", "[DONE]"]);
        assert!(choices.have_ended());
    }
}
