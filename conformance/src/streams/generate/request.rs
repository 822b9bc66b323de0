//! The requests that outputs answer.

use deepseek_codec::protocol::Api;
use serde_json::{Value, json};

use super::answer::Answer;
use crate::generate::Dice;

/// What a request asks for.
#[derive(Debug, Clone)]
pub struct Setting {
    pub api: Api,
    pub is_flash: bool,
    pub thinks: bool,
    pub tools: bool,
    /// Whether the prompt opens the block of calls.
    pub in_block: bool,
    pub json: bool,
    /// What the answer goes on with: nothing, reasoning, or an answer.
    pub continued: Option<&'static str>,
    include_usage: bool,
}

/// The tools that are offered, by the names that the model uses.
pub fn tool_names(setting: &Setting) -> &'static [&'static str] {
    match setting.api {
        Api::Responses if setting.is_flash => &[
            "f",
            "get_weather",
            "Search-docs_2",
            "apply_patch",
            "files__read",
            "files__write",
            "tool_search",
        ],
        // The other model is not shown how to search.
        Api::Responses => {
            &["f", "get_weather", "Search-docs_2", "apply_patch", "files__read", "files__write"]
        }
        Api::Chat | Api::Messages => &["f", "get_weather", "Search-docs_2"],
    }
}

impl Setting {
    pub fn random(api: Api, dice: &mut Dice) -> Self {
        let thinks = dice.chance(0.55);
        let json = api != Api::Messages && dice.chance(0.08);
        // An answer that goes on with another has no tools.
        let continues = api == Api::Chat && !json && dice.chance(0.1);
        let continued = continues.then(|| dice.pick(&["reasoning", "content"])).filter(|_| thinks);
        let tools = !json && continued.is_none() && dice.chance(0.85);
        let in_block = tools && !thinks && dice.chance(0.12);
        Self {
            api,
            is_flash: dice.chance(0.5),
            thinks,
            tools,
            in_block,
            json,
            continued,
            include_usage: dice.chance(0.5),
        }
    }

    /// The request's body.
    pub fn request(&self, stops: &[String]) -> Value {
        let model = if self.is_flash { "deepseek-v4.1-flash" } else { "deepseek-v4-pro" };
        let mut request = json!({"model": model, "stream": true});
        let question = json!([{"role": "user", "content": "Answer, in JSON if you like."}]);
        let thinking = json!({"type": if self.thinks { "enabled" } else { "disabled" }});
        let parameters = json!({"type": "object", "properties": {}});
        match self.api {
            Api::Chat => {
                request["messages"] = question;
                if let Some(continued) = self.continued {
                    let mut message = json!({"role": "assistant", "prefix": true, "content": ""});
                    let field = if continued == "content" { "content" } else { "reasoning_content" };
                    message[field] = "It begins".into();
                    request["messages"].as_array_mut().expect("a list").push(message);
                }
                request["thinking"] = thinking;
                request["stream_options"] = json!({"include_usage": self.include_usage});
                if self.tools {
                    request["tools"] = self.functions(|name| {
                        json!({"type": "function", "function": {"name": name, "parameters": parameters}})
                    });
                }
                if self.json {
                    request["response_format"] = json!({"type": "json_object"});
                }
                if !stops.is_empty() {
                    request["stop"] = json!(stops);
                }
            }
            Api::Responses => {
                request["input"] = question;
                request["reasoning"] = json!({"effort": if self.thinks { "high" } else { "none" }});
                if self.tools {
                    let function =
                        |name: &str| json!({"type": "function", "name": name, "parameters": parameters});
                    request["tools"] = json!([
                        function("f"),
                        function("get_weather"),
                        function("Search-docs_2"),
                        {"type": "custom", "name": "apply_patch", "description": "Patches files."},
                        {"type": "tool_search", "execution": "client", "description": "Finds tools.", "parameters": parameters},
                        {"type": "namespace", "name": "files", "description": "Files.", "tools": [function("read"), function("write")]},
                    ]);
                }
                if self.json {
                    request["text"] = json!({"format": {"type": "json_object"}});
                }
            }
            Api::Messages => {
                request["messages"] = question;
                request["thinking"] = thinking;
                request["max_tokens"] = 1000.into();
                if self.tools {
                    request["tools"] =
                        self.functions(|name| json!({"name": name, "input_schema": parameters}));
                }
                if !stops.is_empty() {
                    request["stop_sequences"] = json!(stops);
                }
            }
        }
        if self.in_block {
            request["tool_choice"] = match self.api {
                Api::Messages => json!({"type": "any"}),
                Api::Chat | Api::Responses => "required".into(),
            };
        }
        request
    }

    fn functions(&self, tool: impl Fn(&str) -> Value) -> Value {
        tool_names(self).iter().map(|name| tool(name)).collect()
    }
}

/// Stop sequences: parts of the answer, or anything.
pub fn stops(api: Api, setting: &Setting, answer: &Answer, dice: &mut Dice) -> Vec<String> {
    if api == Api::Responses || setting.in_block || !dice.chance(0.2) {
        return Vec::new();
    }
    let texts = answer.content_texts();
    let stop = |dice: &mut Dice| {
        let text = if texts.is_empty() { "" } else { dice.pick(&texts) };
        let characters: Vec<char> = text.chars().collect();
        if characters.is_empty() || dice.chance(0.2) {
            return dice.pick(&["END", "\n\n\n", "###", "Observation:", "。", "aab", "🦩"]).to_owned();
        }
        let from = dice.below(characters.len());
        let length = dice.between(1, 6).min(characters.len() - from);
        characters[from..from + length].iter().collect()
    };
    let mut stops: Vec<String> = (0..dice.between(1, 3)).map(|_| stop(dice)).collect();
    // What only stands in markup and the line ends in front of it is left to the cases of its own.
    stops.retain(|stop| dice.chance(0.1) || !stop.contains(['\n', '<']));
    // Of a JSON answer the reference does not look for stop sequences at its first character.
    stops.retain(|stop| !(setting.json && stop.starts_with(['{', '['])));
    stops
}
