//! Chat Completions requests.

use super::dice::Dice;
use super::json::{
    Use, any_schema, arguments, arguments_text, bad_schema, bad_strict_schema, object_schema, value,
};
use super::text::{bad_tool_name, call_id, some_text, text, tool_name};
use super::{
    boolean, disorder, effort, ignored_fields, image, max_tokens, model, number, optional, temperature,
    thinking, top_logprobs, top_p,
};
use crate::body::Node;
use crate::object;

const IGNORED: &[&str] = &[
    "max_completion_tokens",
    "metadata",
    "store",
    "service_tier",
    "user",
    "user_id",
    "logit_bias",
    "modalities",
    "audio",
    "prediction",
    "web_search_options",
    "functions",
    "function_call",
    "verbosity",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "extra_body",
    "top_k",
    "chat_template_kwargs",
    "reasoning",
    "enable_thinking",
];

pub(super) fn request(dice: &mut Dice) -> Node {
    let json_prefix = dice.fault("json with prefix");
    let prefix = dice.chance(0.06) || json_prefix;
    let has_tools = !prefix && dice.chance(0.5) || dice.fault("prefix with tools");
    let mut body = object! { "model": model(dice), "messages": messages(dice, prefix, has_tools) };
    let names = if has_tools { tools(&mut body, dice) } else { Vec::new() };
    if !has_tools && dice.chance(0.06) {
        body.set("tools", if dice.chance(0.5) { Node::Null } else { Node::Array(Vec::new()) });
    }
    thinking_fields(&mut body, dice);
    let thinks = thinks(&body);
    if dice.chance(if has_tools { 0.45 } else { 0.08 }) {
        let choice = tool_choice(dice, &names, thinks);
        body.set("tool_choice", choice);
    }
    let strict = body.get("tools").is_some_and(|tools| tools.text().contains("\"strict\":true"));
    let clash = strict && dice.fault("format with strict tools");
    if clash || !strict && dice.chance(0.22) {
        let format = response_format(dice, prefix);
        body.set("response_format", format);
    } else if json_prefix {
        body.set("response_format", object! { "type": "json_object" });
    }
    let streams = dice.chance(0.4);
    if streams {
        body.set("stream", boolean(dice));
    }
    if body.get("stream") == Some(&Node::Bool(true)) && dice.chance(0.5) || dice.fault("stream options") {
        let mut options = object! {};
        optional(&mut options, dice, 0.8, "include_usage", boolean);
        optional(&mut options, dice, 0.1, "include_obfuscation", boolean);
        body.set("stream_options", options);
    }
    optional(&mut body, dice, 0.25, "temperature", temperature);
    optional(&mut body, dice, 0.25, "top_p", top_p);
    optional(&mut body, dice, 0.3, "max_tokens", max_tokens);
    if dice.chance(0.15) {
        if !dice.fault("logprobs off") {
            body.set("logprobs", true);
        } else if dice.chance(0.5) {
            body.set("logprobs", false);
        }
        optional(&mut body, dice, 0.8, "top_logprobs", top_logprobs);
    } else {
        optional(&mut body, dice, 0.05, "logprobs", boolean);
    }
    optional(&mut body, dice, 0.12, "seed", |dice| {
        if dice.fault("seed") {
            return number(dice.pick(&[
                "9223372036854775808",
                "18446744073709551615",
                "-1",
                "1.5",
                "18446744073709551616",
                "\"7\"",
            ]));
        }
        number(dice.pick(&["0", "1", "42", "9223372036854775807"]))
    });
    optional(&mut body, dice, 0.12, "n", |dice| {
        if dice.fault("n") {
            return number(dice.pick(&["0", "2", "255", "256", "-1", "1.0", "\"1\""]));
        }
        number("1")
    });
    for name in ["presence_penalty", "frequency_penalty"] {
        optional(&mut body, dice, 0.12, name, |dice| {
            if dice.fault("penalty") {
                return number(dice.pick(&["-2.1", "2.5", "1e30", "2.0000003", "1e40"]));
            }
            number(dice.pick(&["0", "-2", "2", "0.5", "-0.0", "2.00000001"]))
        });
    }
    optional(&mut body, dice, 0.18, "stop", stop);
    optional(&mut body, dice, 0.12, "parallel_tool_calls", boolean);
    ignored_fields(&mut body, dice, IGNORED);
    body
}

fn thinking_fields(body: &mut Node, dice: &mut Dice) {
    optional(body, dice, 0.45, "thinking", thinking);
    optional(body, dice, 0.3, "reasoning_effort", effort);
}

/// Whether the request asks for reasoning, as far as the generator knows.
pub(super) fn thinks(body: &Node) -> bool {
    match body.get("thinking").and_then(|thinking| thinking.get("type")) {
        Some(Node::String(kind)) => kind != "disabled",
        _ => body.get("reasoning_effort") != Some(&Node::from("none")),
    }
}

fn stop(dice: &mut Dice) -> Node {
    if dice.fault("stop") {
        return match dice.below(5) {
            0 => "".into(),
            1 => vec![Node::from("a"), "".into()].into(),
            2 => (0..17).map(|index| Node::from(index.to_string())).collect::<Vec<_>>().into(),
            3 => number("5"),
            _ => vec![Node::from("a"), Node::Null].into(),
        };
    }
    if dice.chance(0.5) {
        return some_text(dice).into();
    }
    let count = dice.weighted(&[(1, 0), (4, 1), (4, 2), (1, 16)]);
    (0..count).map(|_| Node::from(some_text(dice))).collect::<Vec<_>>().into()
}

/// Adds `tools` and returns their names.
fn tools(body: &mut Node, dice: &mut Dice) -> Vec<String> {
    let strict = dice.chance(0.2);
    let count = dice.weighted(&[(6, 1), (5, 2), (3, 3), (1, 8)]);
    let mut names = Vec::new();
    let mut tools = Vec::new();
    for _ in 0..count {
        let name = fresh_name(dice, &names);
        let mut function = object! { "name": name.clone() };
        function_fields(&mut function, dice, strict);
        let kind = if dice.fault("tool type") {
            dice.pick(&["custom", "web_search", "", "Function"])
        } else {
            "function"
        };
        let mut tool = object! { "type": kind, "function": function };
        if dice.fault("tool shape") {
            tool = match dice.below(4) {
                0 => object! { "type": "function" },
                1 => {
                    object! { "type": "function", "name": name.clone(), "parameters": object! { "type": "object" } }
                }
                2 => object! { "type": "custom", "custom": object! { "name": name.clone() } },
                _ => object! { "function": object! { "name": name.clone() } },
            };
        }
        names.push(name);
        tools.push(tool);
    }
    body.set("tools", tools);
    names
}

/// A name that no tool of the request has yet, or a fault.
pub(super) fn fresh_name(dice: &mut Dice, names: &[String]) -> String {
    if dice.fault("tool name") {
        return bad_tool_name(dice);
    }
    if !names.is_empty() && dice.fault("duplicate tool") {
        return dice.choose(names).clone();
    }
    let mut name = tool_name(dice);
    while names.contains(&name) {
        name = format!("{}_{}", &name[..name.len().min(100)], names.len());
    }
    name
}

/// Description, parameters and strictness of a function.
pub(super) fn function_fields(function: &mut Node, dice: &mut Dice, strict: bool) {
    optional(function, dice, 0.75, "description", |dice| text(dice).into());
    let strict = strict != dice.fault("mixed strict");
    if strict && dice.fault("strict schema") {
        function.set("parameters", bad_strict_schema(dice));
    } else if dice.fault("schema") {
        function.set("parameters", bad_schema(dice));
    } else {
        let wanted = if strict { Use::Strict } else { Use::Loose };
        optional(function, dice, 0.9, "parameters", |dice| object_schema(dice, wanted));
    }
    if strict {
        function.set("strict", true);
    } else {
        optional(function, dice, 0.2, "strict", |dice| {
            if dice.fault("boolean") { "no".into() } else { Node::Bool(false) }
        });
    }
    if dice.chance(0.05) {
        function.set("x-extra", value(dice, 1));
    }
}

fn tool_choice(dice: &mut Dice, names: &[String], thinks: bool) -> Node {
    let named = |name: &str| object! { "type": "function", "function": object! { "name": name } };
    if dice.fault("tool choice") {
        return match dice.below(8) {
            0 => named("nobody"),
            1 => object! { "type": "custom", "custom": object! { "name": "f" } },
            2 => {
                object! { "type": "allowed_tools", "allowed_tools": object! { "mode": "auto", "tools": Node::Array(Vec::new()) } }
            }
            3 => "any".into(),
            4 => object! { "type": "function" },
            5 => object! { "type": "function", "name": "f" },
            6 => object! { "function": object! { "name": "f" } },
            _ => value(dice, 1),
        };
    }
    let forced = !thinks || dice.fault("forced in thinking");
    match dice.weighted(&[(3, 0), (3, 1), (4 * usize::from(forced), 2), (4 * usize::from(forced), 3)]) {
        0 => "auto".into(),
        1 => "none".into(),
        2 => "required".into(),
        _ => match names {
            [] => "required".into(),
            names => named(dice.choose::<String>(names)),
        },
    }
}

fn response_format(dice: &mut Dice, prefix: bool) -> Node {
    if dice.fault("response format") {
        return match dice.below(6) {
            0 => object! { "type": "grammar", "grammar": "x" },
            1 => object! { "type": "json_schema" },
            2 => object! { "type": "json_schema", "json_schema": object! { "name": "x" } },
            3 => {
                object! { "type": "json_schema", "json_schema": object! { "name": "x", "schema": bad_schema(dice) } }
            }
            4 => object! { "type": "regex" },
            _ => "json_object".into(),
        };
    }
    match dice.weighted(&[(3, 0), (if prefix { 0 } else { 5 }, 1), (6, 2), (2, 3)]) {
        0 => object! { "type": "text" },
        1 => object! { "type": "json_object" },
        2 => {
            let strict = dice.chance(0.4);
            let mut format = object! { "name": "answer" };
            if strict {
                let mut schema = object_schema(dice, Use::Strict);
                if schema.text().contains("\"properties\":{}") || schema.get("properties").is_none() {
                    schema = object! { "type": "object", "properties": object! { "a": object! { "type": "string" } } };
                }
                if dice.fault("strict format") {
                    schema = bad_strict_schema(dice);
                }
                format.set("schema", schema);
                format.set("strict", true);
            } else {
                format.set("schema", any_schema(dice));
                optional(&mut format, dice, 0.3, "strict", |_| Node::Bool(false));
            }
            optional(&mut format, dice, 0.2, "description", |dice| text(dice).into());
            object! { "type": "json_schema", "json_schema": format }
        }
        _ => {
            object! { "type": "regex", "regex": dice.pick(&["[0-9]+", "", "(", "a|b\n", "^\\d{3}$", "<think>"]) }
        }
    }
}

fn messages(dice: &mut Dice, prefix: bool, has_tools: bool) -> Node {
    if dice.fault("no messages") {
        return match dice.below(3) {
            0 => Node::Array(Vec::new()),
            1 => "hello".into(),
            _ => Node::Null,
        };
    }
    let mut out = Vec::new();
    let mut counter = 0;
    if dice.chance(0.6) {
        let count = dice.weighted(&[(8, 1), (2, 2)]);
        for _ in 0..count {
            out.push(plain(dice, "system"));
        }
    }
    let turns = dice.weighted(&[(4, 1), (4, 2), (3, 3), (1, 7)]);
    for _ in 0..turns {
        turn(dice, &mut out, &mut counter, has_tools);
    }
    if dice.chance(0.85) {
        out.push(plain(dice, "user"));
    }
    if prefix {
        let mut last = assistant(dice);
        last.set("prefix", true);
        out.push(last);
    } else if dice.fault("prefix place") && !out.is_empty() {
        let at = dice.below(out.len());
        out[at].set("prefix", true);
    }
    out.into()
}

fn turn(dice: &mut Dice, out: &mut Vec<Node>, counter: &mut usize, has_tools: bool) {
    let calls = if has_tools { 8 } else { 1 };
    match dice.weighted(&[(10, 0), (6, 1), (calls, 2), (2, 3), (2, 4)]) {
        0 => {
            out.push(plain(dice, "user"));
            if dice.chance(0.6) {
                out.push(assistant(dice));
            }
        }
        1 => out.push(assistant(dice)),
        2 => exchange(dice, out, counter),
        3 => out.push(plain(dice, "system")),
        _ => out.push(object! { "role": "latest_reminder", "content": text(dice) }),
    }
    if dice.fault("odd message") {
        out.push(odd_message(dice));
    }
}

fn odd_message(dice: &mut Dice) -> Node {
    match dice.below(10) {
        0 => object! { "role": "developer", "content": text(dice) },
        1 => object! { "role": "function", "name": "f", "content": text(dice) },
        2 => object! { "role": "tool", "content": text(dice), "tool_call_id": "call_none" },
        3 => object! { "role": "user", "content": Node::Null },
        4 => object! { "role": "user" },
        5 => object! { "role": "assistant", "content": Node::Null },
        6 => object! { "role": "assistant", "content": Node::Null, "tool_calls": Node::Array(Vec::new()) },
        7 => object! { "content": text(dice) },
        8 => object! { "role": "latest_reminder", "content": vec![object! { "type": "text", "text": "x" }] },
        _ => value(dice, 2),
    }
}

fn plain(dice: &mut Dice, role: &str) -> Node {
    let mut message = object! { "role": role, "content": content(dice, true) };
    optional(&mut message, dice, 0.08, "name", |dice| text(dice).into());
    if dice.chance(0.03) {
        message.set("x-extra", value(dice, 1));
    }
    message
}

fn assistant(dice: &mut Dice) -> Node {
    let images = dice.fault("assistant image");
    let mut message = object! { "role": "assistant", "content": content(dice, images) };
    optional(&mut message, dice, 0.4, "reasoning_content", |dice| text(dice).into());
    optional(&mut message, dice, 0.05, "name", |dice| text(dice).into());
    optional(&mut message, dice, 0.05, "refusal", |dice| text(dice).into());
    optional(&mut message, dice, 0.05, "prefix", |_| Node::Bool(false));
    optional(&mut message, dice, 0.03, "audio", |_| object! { "id": "audio_1" });
    if dice.chance(0.03) {
        message.set("tool_calls", Node::Null);
    }
    message
}

/// An assistant message with calls and the results, in any order.
fn exchange(dice: &mut Dice, out: &mut Vec<Node>, counter: &mut usize) {
    let count = dice.weighted(&[(8, 1), (4, 2), (2, 3), (1, 5)]);
    let mut ids: Vec<String> = (0..count).map(|_| call_id(dice, counter)).collect();
    if count > 1 && dice.fault("duplicate call") {
        ids[1] = ids[0].clone();
    }
    let calls: Vec<Node> = ids.iter().map(|id| call(dice, id)).collect();
    let mut message = object! { "role": "assistant" };
    optional(&mut message, dice, 0.7, "content", |dice| content(dice, false));
    optional(&mut message, dice, 0.5, "reasoning_content", |dice| text(dice).into());
    message.set("tool_calls", calls);
    out.push(message);
    disorder(&mut ids, dice, "call_unknown");
    for id in ids {
        out.push(object! { "role": "tool", "tool_call_id": id, "content": content(dice, true) });
        if dice.fault("between results") {
            out.push(plain(dice, "system"));
        }
    }
}

fn call(dice: &mut Dice, id: &str) -> Node {
    let name = if dice.chance(0.9) { tool_name(dice) } else { text(dice) };
    let mut function = object! { "name": name };
    function.set(
        "arguments",
        if dice.fault("object arguments") { arguments(dice) } else { arguments_text(dice).into() },
    );
    let kind = if dice.fault("call type") { dice.pick(&["custom", ""]) } else { "function" };
    let mut call = object! { "id": id, "type": kind, "function": function };
    if dice.chance(0.05) {
        call.set("index", 0);
    }
    if dice.fault("call shape") {
        call = match dice.below(4) {
            0 => object! { "id": id, "type": "custom", "custom": object! { "name": "f", "input": "x" } },
            1 => object! { "id": id, "function": object! { "name": "f", "arguments": "{}" } },
            2 => object! { "type": "function", "function": object! { "name": "f", "arguments": "{}" } },
            _ => object! { "id": id, "type": "function", "function": object! { "name": "f" } },
        };
    }
    call
}

fn content(dice: &mut Dice, images: bool) -> Node {
    if dice.fault("content") {
        return match dice.below(4) {
            0 => Node::Null,
            1 => number("5"),
            2 => object! { "type": "text", "text": "x" },
            _ => vec![Node::from("text")].into(),
        };
    }
    if dice.chance(0.7) {
        return text(dice).into();
    }
    let count = dice.weighted(&[(1, 0), (6, 1), (4, 2), (2, 4)]);
    (0..count).map(|_| block(dice, images)).collect::<Vec<_>>().into()
}

fn block(dice: &mut Dice, images: bool) -> Node {
    if dice.fault("block type") {
        return match dice.below(6) {
            0 => {
                object! { "type": "input_audio", "input_audio": object! { "data": "AAAA", "format": "wav" } }
            }
            1 => object! { "type": "refusal", "refusal": text(dice) },
            2 => object! { "type": "text" },
            3 => object! { "text": "x" },
            4 => object! { "type": "image_url", "image_url": "http://x/y.png" },
            _ => object! { "type": "file", "file": object! { "file_data": "data:image/png;base64,AAAA" } },
        };
    }
    if images && dice.fault("image block") {
        return match dice.below(3) {
            0 => object! { "type": "image_url", "image_url": object! { "url": image::bad_image_url(dice) } },
            1 => object! { "type": "file", "file_data": image::odd_url(dice) },
            _ => bad_file(dice),
        };
    }
    let weight = if images { 3 } else { 0 };
    match dice.weighted(&[(10, 0), (weight, 1), (weight / 2, 2)]) {
        0 => {
            let mut block = object! { "type": "text", "text": text(dice) };
            if dice.chance(0.04) {
                block.set("cache_control", object! { "type": "ephemeral" });
            }
            block
        }
        1 => {
            let mut image = object! { "url": image::image_url(dice) };
            optional(&mut image, dice, 0.4, "detail", |dice| {
                if dice.fault("detail") {
                    "medium".into()
                } else {
                    (dice.pick(&["low", "high", "original", "auto"])).into()
                }
            });
            object! { "type": "image_url", "image_url": image }
        }
        _ => file(dice),
    }
}

fn file(dice: &mut Dice) -> Node {
    let mut block = object! { "type": "file", "file_data": image::data_url(dice) };
    optional(&mut block, dice, 0.5, "filename", |dice| text(dice).into());
    optional(&mut block, dice, 0.1, "file_id", |_| Node::Null);
    block
}

/// A file block with neither source, both, or an id.
fn bad_file(dice: &mut Dice) -> Node {
    let mut block = object! { "type": "file" };
    let shape = dice.below(4);
    if shape > 0 {
        block.set("file_id", "file-1");
    }
    if shape == 2 {
        block.set("filename", "a.png");
    }
    if shape == 3 {
        block.set("file_data", "data:image/png;base64,AAAA");
    }
    block
}
