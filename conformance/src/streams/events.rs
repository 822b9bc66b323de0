//! Events and responses in a form that can be compared.

use deepseek_codec::output::OutputWarning;
use deepseek_codec::protocol::Api;
use serde_json::{Value, json};

/// One streamed event.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub name: Option<String>,
    pub data: Value,
}

/// What a side makes of an input.
#[derive(Debug, Clone)]
pub struct Run {
    /// Adjacent deltas are one; what is left to chance and counts of tokens are taken out.
    pub events: Vec<Event>,
    pub response: Value,
    /// Tokens generated, and of these as reasoning.
    pub usage: (Option<u64>, Option<u64>),
    pub warnings: Vec<OutputWarning>,
}

/// A place where the sides differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub place: String,
    pub reference: String,
    pub ours: String,
}

impl Run {
    pub fn new(
        api: Api,
        events: Vec<Event>,
        mut response: Value,
        warnings: Vec<OutputWarning>,
    ) -> Result<Self, String> {
        let usage = usage(api, &response);
        mask(&mut response);
        let mut joined: Vec<Event> = Vec::with_capacity(events.len());
        for (number, mut event) in events.into_iter().enumerate() {
            if api == Api::Responses {
                let sequence = event.data.as_object_mut().and_then(|data| data.remove("sequence_number"));
                if sequence != Some(json!(number)) {
                    return Err(format!("event {number} has the sequence number {sequence:?}"));
                }
            }
            mask(&mut event.data);
            if let Some(last) = joined.last_mut().filter(|last| last.name == event.name)
                && join(api, &mut last.data, &mut event.data)
            {
                continue;
            }
            joined.push(event);
        }
        Ok(Self { events: joined, response, usage, warnings })
    }

    /// Where the events or the responses differ, first what comes first.
    pub fn differences(&self, ours: &Self) -> Vec<Difference> {
        let mut found = Vec::new();
        let count = self.events.len().max(ours.events.len());
        for index in 0..count {
            let (theirs, mine) = (self.events.get(index), ours.events.get(index));
            if theirs == mine {
                continue;
            }
            let show =
                |event: Option<&Event>| event.map_or(Value::Null, |event| json!([event.name, event.data]));
            let kind = mine.or(theirs).and_then(|event| event.name.as_deref()).unwrap_or("chunk").to_owned();
            differ(&show(theirs), &show(mine), &kind, &mut found);
            break;
        }
        differ(&self.response, &ours.response, "response", &mut found);
        found
    }
}

/// Generated tokens and reasoning tokens of a response.
fn usage(api: Api, response: &Value) -> (Option<u64>, Option<u64>) {
    let usage = &response["usage"];
    let (tokens, details) = match api {
        Api::Chat => ("completion_tokens", "completion_tokens_details"),
        Api::Responses | Api::Messages => ("output_tokens", "output_tokens_details"),
    };
    (usage[tokens].as_u64(), usage[details]["reasoning_tokens"].as_u64())
}

/// Takes out times, what is random in ids of calls, counts of generated tokens, and two nulls of the reference that
/// OpenAI's schema does not know (`null-settings`).
fn mask(value: &mut Value) {
    if let Some(members) = value.as_object_mut() {
        if members.contains_key("object") && members.get("user") == Some(&Value::Null) {
            members.remove("user");
        }
        if members.contains_key("format") && members.get("verbosity") == Some(&Value::Null) {
            members.remove("verbosity");
        }
    }
    const COUNTS: [&str; 4] = ["completion_tokens", "output_tokens", "reasoning_tokens", "total_tokens"];
    const TIMES: [&str; 3] = ["created", "created_at", "completed_at"];
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let is_id = key == "id" || key == "call_id";
                match value {
                    Value::Number(number)
                        if COUNTS.contains(&key.as_str()) || TIMES.contains(&key.as_str()) =>
                    {
                        *number = 0.into();
                    }
                    Value::String(id) if is_id && id.starts_with("call_") => {
                        // The index, and the mark of a turn without reasoning.
                        let end = if id[8..].starts_with("ET_") { 11 } else { 8 };
                        id.replace_range(end.., if id.len() == end + 24 { "*" } else { "of another length" });
                    }
                    value => mask(value),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(mask),
        _ => {}
    }
}

/// Adds the text of `next` to `last` if they are deltas of the same thing.
fn join(api: Api, last: &mut Value, next: &mut Value) -> bool {
    let Some(place) = delta(api, last).filter(|place| delta(api, next) == Some(*place)) else { return false };
    let take = |value: &mut Value| value.pointer_mut(place).map(Value::take);
    let (Some(Value::String(mut text)), Some(Value::String(more))) = (take(last), take(next)) else {
        unreachable!("a delta is text");
    };
    let is_same = last == next;
    if is_same {
        text.push_str(&more);
    }
    *last.pointer_mut(place).expect("it was there") = text.into();
    *next.pointer_mut(place).expect("it was there") = more.into();
    is_same
}

/// Where the text of a delta stands; `None` for other events.
fn delta(api: Api, event: &Value) -> Option<&'static str> {
    let places: &[&str] = match api {
        Api::Chat if event["choices"][0]["delta"].get("role").is_some() => &[],
        Api::Chat if !event["choices"][0]["finish_reason"].is_null() => &[],
        Api::Chat => &[
            "/choices/0/delta/content",
            "/choices/0/delta/reasoning_content",
            "/choices/0/delta/tool_calls/0/function/arguments",
        ],
        Api::Responses => &["/delta"],
        Api::Messages => &["/delta/text", "/delta/thinking", "/delta/partial_json"],
    };
    let is_start = event.pointer("/choices/0/delta/tool_calls/0/id").is_some();
    places.iter().copied().find(|place| !is_start && event.pointer(place).is_some_and(Value::is_string))
}

/// Notes where two values differ, at the leaves.
fn differ(theirs: &Value, mine: &Value, place: &str, found: &mut Vec<Difference>) {
    if theirs == mine {
        return;
    }
    match (theirs, mine) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let absent = Value::from("(absent)");
                let (theirs, mine) = (a.get(key).unwrap_or(&absent), b.get(key).unwrap_or(&absent));
                differ(theirs, mine, &format!("{place}.{key}"), found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (theirs, mine) in a.iter().zip(b) {
                differ(theirs, mine, &format!("{place}[]"), found);
            }
        }
        _ => found.push(Difference {
            place: place.to_owned(),
            reference: theirs.to_string(),
            ours: mine.to_string(),
        }),
    }
}
