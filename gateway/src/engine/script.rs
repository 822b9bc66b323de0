//! An engine for tests: a file says what is generated for which request.
//!
//! The file has a JSON object a line; lines that are empty or begin with `#` do not count. The first line that fits a
//! request answers it. Its members:
//!
//! | member | default | meaning |
//! | --- | --- | --- |
//! | `api` | any | `chat`, `responses` or `messages` |
//! | `model` | any | the model's name in the request |
//! | `text` | any | what the prompt has to contain |
//! | `thinking` | any | whether the answer begins with reasoning |
//! | `generate` | nothing | what is generated: text in which special tokens are spelled out, or a list of ids; or a list of these, one for each answer |
//! | `repeat` | 1 | how often it comes |
//! | `first_ms` | 0 | milliseconds until the first token, besides `delay_ms` |
//! | `delay_ms` | 0 | milliseconds for each token |
//! | `fail_after` | never | tokens after which the engine fails; `"start"`: before all, `"overloaded"`: likewise, for it has too much to do |
//! | `finish` | `stop` | what the end means if no token says it: `stop`, `length` or `content_filter` |

use std::sync::Arc;
use std::time::Duration;

use deepseek_codec::engine::Step;
use deepseek_codec::inspect::spelled_ids;
use deepseek_codec::json::Json;
use deepseek_codec::output::Finish;
use deepseek_codec::protocol::Api;
use deepseek_codec::token::TokenId;
use deepseek_codec::tokenizer::Tokenizer;
use tokio::time::Instant;

use super::{EngineError, EngineErrorKind, Next, Order};
use crate::config::ConfigError;

/// A script.
#[derive(Debug, Default)]
pub struct Script {
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    api: Option<Api>,
    model: Option<String>,
    text: Option<String>,
    thinking: Option<bool>,
    /// One for each answer; further answers begin again.
    generate: Vec<Generated>,
    repeat: usize,
    first: Duration,
    delay: Duration,
    fails: Option<Fails>,
    finish: Finish,
}

#[derive(Debug)]
enum Generated {
    Text(String),
    Ids(Arc<[TokenId]>),
}

#[derive(Debug, Clone, Copy)]
enum Fails {
    Start,
    Overloaded,
    After(usize),
}

/// A sequence by a script.
#[derive(Debug)]
pub struct Sequence {
    ids: Arc<[TokenId]>,
    length: usize,
    at: usize,
    /// When the last token was due: delays do not add up.
    due: Instant,
    delay: Duration,
    fails_after: Option<usize>,
    finish: Finish,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// If a line is not JSON, or has members that are not known or of the wrong type.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let lines = text.lines().zip(1_usize..);
        let lines = lines.filter(|(line, _)| !line.trim().is_empty() && !line.trim_start().starts_with('#'));
        let lines = lines.map(|(line, number)| {
            let wrong = |problem: String| ConfigError(format!("script, line {number}: {problem}"));
            let json = Json::parse(line.as_bytes()).map_err(|error| wrong(error.to_string()))?;
            Line::read(&json).map_err(wrong)
        });
        Ok(Self { lines: lines.collect::<Result<_, _>>()? })
    }

    pub(super) fn start(&self, order: Order<'_>) -> Result<Sequence, EngineError> {
        let line = self.lines.iter().find(|line| line.fits(order));
        let line = line.ok_or_else(|| EngineError::failed("no line of the script fits the request"))?;
        let fails_after = match line.fails {
            Some(Fails::Start) => return Err(EngineError::failed("the script fails at the start")),
            Some(Fails::Overloaded) => {
                let kind = EngineErrorKind::Overloaded;
                return Err(EngineError { kind, detail: "the script is overloaded".to_owned() });
            }
            Some(Fails::After(tokens)) => Some(tokens),
            None => None,
        };
        let ids = match line.generate.get(order.index % line.generate.len().max(1)) {
            None => Arc::default(),
            Some(generated) => generated.ids(order.tokenizer),
        };
        Ok(Sequence {
            length: ids.len() * line.repeat,
            ids,
            at: 0,
            due: Instant::now() + line.first,
            delay: line.delay,
            fails_after,
            finish: line.finish,
        })
    }
}

impl Generated {
    fn read(json: &Json) -> Result<Self, String> {
        match json {
            Json::String(text) => Ok(Self::Text(text.clone())),
            Json::Array(ids) => ids.iter().map(|id| token(id).ok_or(GENERATE.to_owned())).collect(),
            _ => Err(GENERATE.to_owned()),
        }
    }

    fn ids(&self, tokenizer: &Tokenizer) -> Arc<[TokenId]> {
        match self {
            Self::Text(text) => spelled_ids(tokenizer, text).into(),
            Self::Ids(ids) => ids.clone(),
        }
    }
}

impl FromIterator<TokenId> for Generated {
    fn from_iter<I: IntoIterator<Item = TokenId>>(ids: I) -> Self {
        Self::Ids(ids.into_iter().collect())
    }
}

const GENERATE: &str = "`generate` has to be text, a list of ids, or a list of these";

fn token(json: &Json) -> Option<TokenId> {
    match json {
        Json::Number(number) => u32::try_from(number.as_u64()?).ok().map(TokenId),
        _ => None,
    }
}

impl Line {
    fn read(json: &Json) -> Result<Self, String> {
        let members = json.as_object().ok_or("not an object")?;
        let mut line = Self {
            api: None,
            model: None,
            text: None,
            thinking: None,
            generate: Vec::new(),
            repeat: 1,
            first: Duration::ZERO,
            delay: Duration::ZERO,
            fails: None,
            finish: Finish::Stop,
        };
        for (name, value) in members.iter() {
            let wrong = || format!("`{name}` cannot be {value}");
            let number = || match value {
                Json::Number(number) => Some(number.as_f64()).filter(|number| *number >= 0.0),
                _ => None,
            };
            let text = || value.as_str().map(str::to_owned).ok_or_else(wrong);
            match name {
                "api" => {
                    line.api = Some(value.as_str().and_then(Api::by_name).ok_or_else(wrong)?);
                }
                "model" => line.model = Some(text()?),
                "text" => line.text = Some(text()?),
                "thinking" => match value {
                    Json::Bool(thinking) => line.thinking = Some(*thinking),
                    _ => return Err(wrong()),
                },
                "generate" => {
                    let several = value.as_array().filter(|list| list.iter().all(|one| token(one).is_none()));
                    line.generate = match several {
                        Some(list) => list.iter().map(Generated::read).collect::<Result<_, _>>()?,
                        None => vec![Generated::read(value)?],
                    };
                }
                "repeat" => line.repeat = number().ok_or_else(wrong)? as usize,
                "first_ms" => line.first = Duration::from_secs_f64(number().ok_or_else(wrong)? / 1e3),
                "delay_ms" => line.delay = Duration::from_secs_f64(number().ok_or_else(wrong)? / 1e3),
                "fail_after" => {
                    line.fails = Some(match value.as_str() {
                        Some("start") => Fails::Start,
                        Some("overloaded") => Fails::Overloaded,
                        Some(_) => return Err(wrong()),
                        None => Fails::After(number().ok_or_else(wrong)? as usize),
                    });
                }
                "finish" => {
                    line.finish = match value.as_str() {
                        Some("stop") => Finish::Stop,
                        Some("length") => Finish::Length,
                        Some("content_filter") => Finish::ContentFilter,
                        _ => return Err(wrong()),
                    };
                }
                _ => return Err(format!("`{name}` is not known")),
            }
        }
        Ok(line)
    }

    fn fits(&self, order: Order<'_>) -> bool {
        let lowered = order.lowered;
        self.api.is_none_or(|api| api == lowered.api)
            && self.model.as_ref().is_none_or(|model| *model == lowered.model)
            && self.thinking.is_none_or(|thinking| thinking == lowered.conversation.thinking.is_on())
            && self
                .text
                .as_ref()
                .is_none_or(|text| order.tokenizer.decode(order.session.prompt()).contains(text.as_str()))
    }
}

impl Sequence {
    pub(super) async fn next(&mut self) -> Result<Next, EngineError> {
        // A stream that never waits lets others have their turn.
        tokio::task::consume_budget().await;
        if self.fails_after == Some(self.at) {
            return Err(EngineError::failed(format!("the script fails after {} tokens", self.at)));
        }
        if self.at == self.length {
            return Ok(Next::End(self.finish));
        }
        self.due += self.delay;
        if self.due > Instant::now() {
            tokio::time::sleep_until(self.due).await;
        }
        let id = self.ids[self.at % self.ids.len()];
        self.at += 1;
        Ok(Next::Token(Step::from(id)))
    }
}
