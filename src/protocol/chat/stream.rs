//! Chunks of a Chat Completions stream, and the complete response.
//!
//! | | `deepseek` dialect | `vendor` dialect |
//! | --- | --- | --- |
//! | usage of a stream | in the last chunk, beside its choice | only if asked for: in a chunk of its own, with empty `choices` |
//! | `usage` of other chunks | null if asked for | null if asked for |
//! | cache fields of usage | `prompt_cache_hit_tokens`, `prompt_cache_miss_tokens` too | only `cached_tokens` |
//! | first delta | `content` or `reasoning_content` empty, the other null | `content` empty |
//! | last delta | `content` empty | empty |
//! | `refusal` | absent | null |
//! | calls of a complete message | with `index` | without |
//! | `system_fingerprint` | null if there is none | absent if there is none |

use crate::json::{Json, Object};
use crate::output::{Event, Plan, Start, StopReason};
use crate::protocol::stream::{CallIds, Chunk, Common, StreamOptions, Usage, finish_reason, push_string};
use crate::protocol::{Dialect, Lowered};

/// Writes chunks and keeps what the complete response needs.
#[derive(Debug, Clone)]
pub(in crate::protocol) struct Writer {
    options: StreamOptions,
    model: String,
    /// What stands in every chunk before the delta.
    head: String,
    thinks: bool,
    starts_in_reasoning: bool,
    include_usage: bool,
    call_ids: CallIds,
    content: Option<String>,
    reasoning: Option<String>,
    calls: Vec<Call>,
    content_logprobs: Vec<Json>,
    reasoning_logprobs: Vec<Json>,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    closed: bool,
}

#[derive(Debug, Clone)]
struct Call {
    id: String,
    name: String,
    arguments: String,
}

impl Writer {
    pub(in crate::protocol) fn new(lowered: &Lowered, plan: &Plan, options: StreamOptions) -> Self {
        let mut head = String::from("{\"id\":");
        push_string(&mut head, &options.id);
        head.push_str(",\"object\":\"chat.completion.chunk\",\"created\":");
        head.push_str(&options.created.to_string());
        head.push_str(",\"model\":");
        push_string(&mut head, &lowered.model);
        if let Some(fingerprint) = fingerprint(&options) {
            head.push_str(",\"system_fingerprint\":");
            head.push_str(&fingerprint.to_string());
        }
        let thinks = lowered.conversation.thinking.is_on();
        Self {
            call_ids: CallIds::new(options.seed),
            model: lowered.model.clone(),
            head,
            thinks,
            starts_in_reasoning: matches!(plan.start, Start::Reasoning | Start::InReasoning),
            include_usage: lowered.include_usage || (!lowered.stream && options.dialect == Dialect::Deepseek),
            options,
            content: None,
            reasoning: None,
            calls: Vec::new(),
            content_logprobs: Vec::new(),
            reasoning_logprobs: Vec::new(),
            stop: None,
            usage: None,
            closed: false,
        }
    }

    fn is_vendor(&self) -> bool {
        self.options.dialect == Dialect::Vendor
    }

    /// Sends a chunk with this delta.
    fn chunk(
        &self,
        delta: &str,
        logprobs: Option<(&str, Vec<Json>)>,
        finish: Option<&str>,
        usage: Option<&str>,
    ) -> Chunk {
        let mut data = String::with_capacity(self.head.len() + delta.len() + 128);
        data.push_str(&self.head);
        data.push_str(",\"choices\":[{\"index\":");
        data.push_str(&self.options.index.to_string());
        data.push_str(",\"delta\":");
        data.push_str(delta);
        data.push_str(",\"logprobs\":");
        match logprobs {
            Some((field, entries)) => data.push_str(&self.logprobs([(field, entries)]).to_string()),
            None => data.push_str("null"),
        }
        data.push_str(",\"finish_reason\":");
        match finish {
            Some(finish) => push_string(&mut data, finish),
            None => data.push_str("null"),
        }
        data.push_str("}]");
        match usage {
            Some(usage) => {
                data.push_str(",\"usage\":");
                data.push_str(usage);
            }
            None if self.include_usage => data.push_str(",\"usage\":null"),
            None => {}
        }
        data.push('}');
        Chunk { event: None, data }
    }

    /// The log probabilities of `fields`, with the fields that the dialect has to have.
    fn logprobs<const N: usize>(&self, fields: [(&str, Vec<Json>); N]) -> Json {
        let mut members = Object::new();
        for (field, entries) in fields {
            if !entries.is_empty() {
                members.insert(field, Json::Array(entries));
            }
        }
        if self.is_vendor() {
            if members.get("content").is_none() {
                members.insert("content", Json::Null);
            }
            members.insert("refusal", Json::Null);
        }
        members.into()
    }

    pub(in crate::protocol) fn start(&mut self, common: Common<'_>) {
        let delta = if self.is_vendor() {
            self.content = Some(String::new());
            "{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}"
        } else if self.starts_in_reasoning {
            self.reasoning = Some(String::new());
            "{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"\"}"
        } else if self.thinks {
            self.content = Some(String::new());
            "{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":null}"
        } else {
            self.content = Some(String::new());
            "{\"role\":\"assistant\",\"content\":\"\"}"
        };
        common.out.push(self.chunk(delta, None, None, None));
    }

    pub(in crate::protocol) fn event(&mut self, event: Event<'_>, common: Common<'_>) {
        let mut delta = String::new();
        let mut logprobs = None;
        match event {
            Event::Reasoning { text, .. } => {
                self.reasoning.get_or_insert_default().push_str(text);
                self.reasoning_logprobs.extend(common.logprobs.iter().cloned());
                logprobs = Some(("reasoning_content", common.logprobs));
                delta.push_str(if self.is_vendor() {
                    "{\"reasoning_content\":"
                } else {
                    "{\"content\":null,\"reasoning_content\":"
                });
                push_string(&mut delta, text);
            }
            Event::Content { text, .. } => {
                self.content.get_or_insert_default().push_str(text);
                self.content_logprobs.extend(common.logprobs.iter().cloned());
                logprobs = Some(("content", common.logprobs));
                delta.push_str("{\"content\":");
                push_string(&mut delta, text);
                if self.thinks && !self.is_vendor() {
                    delta.push_str(",\"reasoning_content\":null");
                }
            }
            Event::CallStart { index, name } => {
                let without_reasoning = self.thinks && self.reasoning.as_ref().is_none_or(String::is_empty);
                let id = self.call_ids.next(without_reasoning);
                delta.push_str("{\"tool_calls\":[{\"index\":");
                delta.push_str(&index.to_string());
                delta.push_str(",\"id\":");
                push_string(&mut delta, &id);
                delta.push_str(",\"type\":\"function\",\"function\":{\"name\":");
                push_string(&mut delta, name);
                delta.push_str(",\"arguments\":\"\"}}]");
                self.calls.push(Call { id, name: name.to_owned(), arguments: String::new() });
            }
            Event::CallArguments { index, json } => {
                if let Some(call) = self.calls.get_mut(index) {
                    call.arguments.push_str(json);
                }
                delta.push_str("{\"tool_calls\":[{\"index\":");
                delta.push_str(&index.to_string());
                delta.push_str(",\"function\":{\"arguments\":");
                push_string(&mut delta, json);
                delta.push_str("}}]");
            }
            Event::Stop { reason, .. } => {
                self.stop = Some(reason);
                return;
            }
            Event::CallEnd { .. } | Event::Warning(_) => return,
        }
        delta.push('}');
        let logprobs = logprobs.filter(|(_, entries)| !entries.is_empty());
        common.out.push(self.chunk(&delta, logprobs, None, None));
    }

    /// Sends the last chunks.
    pub(in crate::protocol) fn close(&mut self, common: Common<'_>) {
        let Some(reason) = self.stop else { return };
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.usage = Some(common.usage);
        let usage = self.usage_json(common.usage).to_string();
        let finish = Some(finish_reason(reason));
        if self.is_vendor() {
            common.out.push(self.chunk("{}", None, finish, None));
            if self.include_usage {
                let data = format!("{},\"choices\":[],\"usage\":{usage}}}", self.head);
                common.out.push(Chunk { event: None, data });
            }
        } else {
            self.content.get_or_insert_default();
            let delta = if self.thinks {
                "{\"content\":\"\",\"reasoning_content\":null}"
            } else {
                "{\"content\":\"\"}"
            };
            common.out.push(self.chunk(delta, None, finish, Some(&usage)));
        }
        common.out.push(Chunk { event: None, data: "[DONE]".to_owned() });
    }

    pub(in crate::protocol) fn fail(&mut self, message: &str, common: Common<'_>) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        let error = Json::from([
            ("message", message.into()),
            ("type", "server_error".into()),
            ("param", Json::Null),
            ("code", "server_error".into()),
        ]);
        common.out.push(Chunk { event: None, data: Json::from([("error", error)]).to_string() });
        common.out.push(Chunk { event: None, data: "[DONE]".to_owned() });
    }

    fn usage_json(&self, usage: Usage) -> Json {
        let mut members = Object::from([
            ("prompt_tokens", usage.prompt.into()),
            ("completion_tokens", usage.completion.into()),
            ("total_tokens", (usage.prompt + usage.completion).into()),
            ("prompt_tokens_details", [("cached_tokens", usage.cached.into())].into()),
        ]);
        if let Some(reasoning) = usage.reasoning {
            members.insert("completion_tokens_details", [("reasoning_tokens", reasoning.into())].into());
        }
        if !self.is_vendor() {
            members.insert("prompt_cache_hit_tokens", usage.cached.into());
            members.insert("prompt_cache_miss_tokens", usage.prompt.saturating_sub(usage.cached).into());
        }
        members.into()
    }

    /// The complete response.
    pub(in crate::protocol) fn response(&self) -> Json {
        let mut message =
            Object::from([("role", "assistant".into()), ("content", self.content.as_deref().into())]);
        if let Some(reasoning) = &self.reasoning {
            message.insert("reasoning_content", reasoning.as_str().into());
        }
        if self.is_vendor() {
            message.insert("refusal", Json::Null);
        }
        if !self.calls.is_empty() {
            let calls = self.calls.iter().enumerate().map(|(index, call)| self.call_json(index, call));
            message.insert("tool_calls", Json::Array(calls.collect()));
        }
        let logprobs = if self.content_logprobs.is_empty() && self.reasoning_logprobs.is_empty() {
            Json::Null
        } else {
            self.logprobs([
                ("content", self.content_logprobs.clone()),
                ("reasoning_content", self.reasoning_logprobs.clone()),
            ])
        };
        let choice = Json::from([
            ("index", self.options.index.into()),
            ("message", message.into()),
            ("logprobs", logprobs),
            ("finish_reason", self.stop.map(finish_reason).into()),
        ]);
        let mut members = Object::from([
            ("id", self.options.id.as_str().into()),
            ("object", "chat.completion".into()),
            ("created", self.options.created.into()),
            ("model", self.model.as_str().into()),
            ("choices", Json::Array(vec![choice])),
        ]);
        if let Some(usage) = self.usage {
            members.insert("usage", self.usage_json(usage));
        }
        if let Some(fingerprint) = fingerprint(&self.options) {
            members.insert("system_fingerprint", fingerprint);
        }
        members.into()
    }

    fn call_json(&self, index: usize, call: &Call) -> Json {
        let function =
            Json::from([("name", call.name.as_str().into()), ("arguments", call.arguments.as_str().into())]);
        let mut members = Object::new();
        if !self.is_vendor() {
            members.insert("index", (index as u64).into());
        }
        members.insert("id", call.id.as_str().into());
        members.insert("type", "function".into());
        members.insert("function", function);
        members.into()
    }
}

/// What the engine is, unless nothing says it. OpenAI's schema knows no null here.
fn fingerprint(options: &StreamOptions) -> Option<Json> {
    let fingerprint = options.system_fingerprint.as_deref();
    (fingerprint.is_some() || options.dialect == Dialect::Deepseek).then(|| fingerprint.into())
}
