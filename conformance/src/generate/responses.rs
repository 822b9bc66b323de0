//! Responses requests.

use super::dice::Dice;
use super::json::{
    Use, any_schema, arguments, arguments_text, bad_schema, bad_strict_schema, object_schema, value,
};
use super::response_tools::{Declared, tools};
use super::text::{call_id, text, tool_name};
use super::{
    boolean, effort, ignored_fields, image, max_tokens, model, number, optional, temperature, top_logprobs,
    top_p,
};
use crate::body::Node;
use crate::object;

const IGNORED: &[&str] = &[
    "previous_response_id",
    "conversation",
    "store",
    "background",
    "metadata",
    "include",
    "prompt",
    "truncation",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "context_management",
    "stream_options",
    "parallel_tool_calls",
    "max_tool_calls",
    "stop",
    "seed",
    "max_tokens",
    "thinking",
    "messages",
    "n",
    "response_format",
];

pub(super) fn request(dice: &mut Dice) -> Node {
    let mut body = object! { "model": model(dice) };
    let mut declared = Declared { names: Vec::new(), namespaces: Vec::new() };
    let strict = dice.chance(0.12);
    let has_tools = dice.chance(0.55);
    if has_tools {
        let list = tools(dice, &mut declared, strict, true);
        body.set("tools", list);
    } else {
        optional(&mut body, dice, 0.05, "tools", |_| Node::Array(Vec::new()));
    }
    let instructions = dice.chance(0.5);
    if instructions {
        body.set("instructions", text(dice));
    } else {
        optional(&mut body, dice, 0.03, "instructions", |_| Node::Null);
    }
    if !dice.fault("no input") && (!instructions || dice.chance(0.98)) {
        let input = input(dice, &mut declared);
        body.set("input", input);
    }
    optional(&mut body, dice, 0.6, "reasoning", |dice| {
        let mut reasoning = object! {};
        optional(&mut reasoning, dice, 0.8, "effort", effort);
        for name in ["summary", "generate_summary"] {
            optional(&mut reasoning, dice, 0.2, name, |dice| {
                if dice.fault("summary") {
                    "none".into()
                } else {
                    (dice.pick(&["auto", "concise", "detailed"])).into()
                }
            });
        }
        reasoning
    });
    let thinks =
        body.get("reasoning").and_then(|reasoning| reasoning.get("effort")) != Some(&Node::from("none"));
    if dice.chance(if has_tools { 0.5 } else { 0.08 }) {
        let choice = tool_choice(dice, &declared, thinks);
        body.set("tool_choice", choice);
    }
    let strict_tools = body.text().contains("\"strict\":true");
    if !strict_tools || dice.fault("format with strict tools") {
        optional(&mut body, dice, 0.35, "text", text_config);
    }
    optional(&mut body, dice, 0.4, "stream", boolean);
    optional(&mut body, dice, 0.25, "temperature", temperature);
    optional(&mut body, dice, 0.25, "top_p", top_p);
    optional(&mut body, dice, 0.3, "max_output_tokens", max_tokens);
    optional(&mut body, dice, 0.12, "top_logprobs", top_logprobs);
    optional(
        &mut body,
        dice,
        0.12,
        "user",
        |dice| if dice.fault("user") { number("5") } else { text(dice).into() },
    );
    ignored_fields(&mut body, dice, IGNORED);
    body
}

fn text_config(dice: &mut Dice) -> Node {
    let mut config = object! {};
    optional(&mut config, dice, 0.3, "verbosity", |dice| {
        if dice.fault("verbosity") { "huge".into() } else { (dice.pick(&["low", "medium", "high"])).into() }
    });
    if dice.fault("text format") {
        let format = match dice.below(7) {
            0 => object! { "type": "json_schema" },
            1 => object! { "type": "json_schema", "schema": object! { "type": "object" } },
            2 => object! { "type": "json_schema", "name": "x", "schema": bad_schema(dice) },
            3 => {
                object! { "type": "json_schema", "name": "x", "schema": bad_strict_schema(dice), "strict": true }
            }
            4 => object! { "type": "regex", "regex": "a" },
            5 => object! { "type": "grammar" },
            _ => Node::Null,
        };
        config.set("format", format);
    } else if dice.chance(0.9) {
        let format = match dice.weighted(&[(3, 0), (5, 1), (6, 2)]) {
            0 => object! { "type": "text" },
            1 => object! { "type": "json_object" },
            _ => {
                let strict = dice.chance(0.4);
                let schema = if strict { object_schema(dice, Use::Strict) } else { any_schema(dice) };
                let mut format = object! { "type": "json_schema", "name": text(dice), "schema": schema };
                optional(&mut format, dice, 0.3, "description", |dice| text(dice).into());
                if strict {
                    format.set("strict", true);
                } else {
                    optional(&mut format, dice, 0.4, "strict", |_| Node::Bool(false));
                }
                format
            }
        };
        config.set("format", format);
    }
    config
}

fn tool_choice(dice: &mut Dice, declared: &Declared, thinks: bool) -> Node {
    if dice.fault("tool choice") {
        return match dice.below(9) {
            0 => object! { "type": "function", "name": "nobody" },
            1 => object! { "type": "custom", "name": "exec" },
            2 => object! { "type": "allowed_tools", "mode": "auto", "tools": Node::Array(Vec::new()) },
            3 => object! { "type": "mcp", "server_label": "x" },
            4 => object! { "type": "file_search" },
            5 => object! { "type": "function" },
            6 => "any".into(),
            7 => object! { "name": "f" },
            _ => value(dice, 1),
        };
    }
    let forced = usize::from(!thinks || dice.fault("forced in thinking"));
    match dice.weighted(&[(3, 0), (3, 1), (1, 2), (1, 3), (4 * forced, 4), (5 * forced, 5)]) {
        0 => "auto".into(),
        1 => "none".into(),
        2 => object! { "type": "web_search" },
        3 => object! { "type": "web_search_2025_08_26" },
        4 => "required".into(),
        _ => match declared.names.as_slice() {
            [] => "required".into(),
            names => {
                let name = match declared.namespaces.as_slice() {
                    [_, ..] if dice.fault("namespaced choice") => {
                        let (namespace, name) = dice.choose(&declared.namespaces).clone();
                        format!("{namespace}{}{name}", dice.pick(&["::", "__", "", "."]))
                    }
                    _ => dice.choose(names).clone(),
                };
                let kind = if name == "apply_patch" || dice.chance(0.1) { "custom" } else { "function" };
                object! { "type": kind, "name": name }
            }
        },
    }
}

fn input(dice: &mut Dice, declared: &mut Declared) -> Node {
    if dice.fault("input shape") {
        return match dice.below(4) {
            0 => Node::Array(Vec::new()),
            1 => Node::Null,
            2 => object! { "role": "user", "content": "x" },
            _ => vec![Node::from("x")].into(),
        };
    }
    if dice.chance(0.12) {
        return text(dice).into();
    }
    let mut out = Vec::new();
    let mut counter = 0;
    let mut done_ids = Vec::new();
    let turns = dice.weighted(&[(3, 1), (4, 2), (4, 4), (1, 9)]);
    for _ in 0..turns {
        turn(dice, declared, &mut out, &mut counter, &mut done_ids);
    }
    if out.is_empty() || dice.chance(0.7) {
        out.push(message(dice, "user"));
    }
    out.into()
}

fn turn(
    dice: &mut Dice,
    declared: &mut Declared,
    out: &mut Vec<Node>,
    counter: &mut usize,
    done: &mut Vec<String>,
) {
    match dice.weighted(&[(8, 0), (5, 1), (4, 2), (9, 3), (2, 4), (2, 5), (2, 6), (1, 7)]) {
        0 => out.push(message(dice, "user")),
        1 => out.push(message(dice, "assistant")),
        2 => out.push(reasoning(dice)),
        3 => calls(dice, declared, out, counter, done),
        4 => out.push(message(dice, "developer")),
        5 => out.push(message(dice, "system")),
        6 => out.push(unsupported(dice)),
        _ => {
            let mut item = object! { "type": "function_call_output", "output": output(dice) };
            optional(&mut item, dice, 0.4, "call_id", |_| Node::Null);
            out.push(item);
        }
    }
    if dice.fault("odd item") {
        let item = odd_item(dice, done);
        out.push(item);
    }
}

fn unsupported(dice: &mut Dice) -> Node {
    let kind = dice.pick(&[
        "web_search_call",
        "web_search_call",
        "file_search_call",
        "computer_call",
        "computer_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "mcp_call",
        "mcp_list_tools",
        "image_generation_call",
        "code_interpreter_call",
        "compaction",
        "item_reference",
        "new_item",
        "shell_call",
    ]);
    object! { "type": kind, "id": "x_1", "status": "completed", "action": value(dice, 1) }
}

fn odd_item(dice: &mut Dice, done: &[String]) -> Node {
    let repeated = done.first().cloned().unwrap_or_else(|| "call_x".to_owned());
    match dice.below(14) {
        0 => object! { "type": "function_call_output", "call_id": "call_none", "output": "x" },
        1 => object! { "type": "function_call_output", "call_id": repeated, "output": "x" },
        2 => object! { "type": "function_call_output", "call_id": "", "output": "x" },
        3 => object! { "type": "function_call", "call_id": "", "name": "f", "arguments": "{}" },
        4 => object! { "type": "function_call", "call_id": repeated, "name": "f", "arguments": "{}" },
        5 => object! { "type": "function_call", "call_id": "call_open", "name": "f", "arguments": "{}" },
        6 => object! { "type": "custom_tool_call_output", "call_id": "call_none", "output": "x" },
        7 => object! { "type": "custom_tool_call", "call_id": repeated, "name": "apply_patch", "input": "x" },
        8 => {
            object! { "type": "tool_search_output", "call_id": "call_none", "tools": Node::Array(Vec::new()) }
        }
        9 => object! { "type": "tool_search_call", "call_id": repeated, "arguments": object! {} },
        10 => object! { "type": "message", "role": "tool", "content": "x" },
        11 => object! { "role": "user" },
        12 => {
            object! { "type": "function_call", "call_id": "call_y", "name": "f", "arguments": arguments(dice) }
        }
        _ => value(dice, 2),
    }
}

fn message(dice: &mut Dice, role: &str) -> Node {
    let typed = dice.chance(0.6);
    let mut item = object! {};
    if typed {
        item.set("type", "message");
    }
    item.set("role", role);
    let images = role != "assistant" || dice.fault("assistant image");
    if role == "developer" && dice.chance(0.4) {
        item.set("content", vec![object! { "type": "input_text", "text": notice(dice) }]);
    } else {
        item.set("content", content(dice, images, role == "assistant"));
    }
    if role == "assistant" && dice.chance(0.4) {
        item.set("id", "msg_1");
        item.set("status", "completed");
        optional(&mut item, dice, 0.4, "phase", |_| "commentary".into());
    }
    item
}

fn notice(dice: &mut Dice) -> String {
    match dice.below(6) {
        0 => "<image_resize_notice></image_resize_notice>".to_owned(),
        1 => "<image_resize_notice>".to_owned(),
        2 => " <image_resize_notice>x</image_resize_notice>".to_owned(),
        _ => format!("<image_resize_notice>{}</image_resize_notice>", text(dice)),
    }
}

fn reasoning(dice: &mut Dice) -> Node {
    let mut item = object! { "type": "reasoning" };
    optional(&mut item, dice, 0.6, "id", |_| "rs_1".into());
    optional(&mut item, dice, 0.85, "content", |dice| {
        let count = dice.weighted(&[(1, 0), (6, 1), (2, 2)]);
        (0..count)
            .map(|_| object! { "type": "reasoning_text", "text": text(dice) })
            .collect::<Vec<_>>()
            .into()
    });
    optional(&mut item, dice, 0.7, "summary", |dice| {
        let count = dice.below(3);
        (0..count).map(|_| object! { "type": "summary_text", "text": text(dice) }).collect::<Vec<_>>().into()
    });
    optional(&mut item, dice, 0.3, "encrypted_content", |dice| {
        if dice.fault("encrypted") { number("5") } else { "gAAAA".into() }
    });
    item
}

/// One kind of call and its output.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Function,
    Custom,
    Search,
}

fn calls(
    dice: &mut Dice,
    declared: &mut Declared,
    out: &mut Vec<Node>,
    counter: &mut usize,
    done: &mut Vec<String>,
) {
    let count = dice.weighted(&[(8, 1), (4, 2), (2, 3), (1, 5)]);
    let mut open: Vec<(String, Kind)> = Vec::new();
    let mut left = count;
    while left > 0 || !open.is_empty() {
        let calls_next = left > 0 && (open.is_empty() || dice.chance(0.7));
        if calls_next {
            left -= 1;
            let id = call_id(dice, counter);
            let kind = dice.weighted(&[(10, Kind::Function), (3, Kind::Custom), (3, Kind::Search)]);
            out.push(call(dice, declared, &id, kind));
            open.push((id, kind));
        } else {
            let at = if dice.chance(0.6) { 0 } else { dice.below(open.len()) };
            let (id, kind) = open.remove(at);
            if dice.fault("missing output") {
                continue;
            }
            let item = call_output(dice, declared, &id, kind);
            out.push(item);
            if kind != Kind::Search && dice.chance(0.12) {
                // Models without mid-conversation system messages take a notice for a message, which may only
                // follow the last output.
                if open.is_empty() || dice.fault("notice between") {
                    out.push(message(dice, "developer"));
                }
            }
            done.push(id);
        }
        if dice.fault("between calls") {
            let role = dice.pick(&["user", "developer", "assistant"]);
            out.push(message(dice, role));
        } else if dice.chance(0.04) {
            out.push(
                object! { "type": dice.pick(&["mcp_list_tools", "item_reference", "compaction"]), "id": "x" },
            );
        }
    }
}

fn call(dice: &mut Dice, declared: &Declared, id: &str, kind: Kind) -> Node {
    match kind {
        Kind::Function => {
            let mut item = object! { "type": "function_call", "call_id": id };
            let (namespace, name) = match dice.below(10) {
                0 | 1 if !declared.namespaces.is_empty() => {
                    let (namespace, name) = dice.choose(&declared.namespaces).clone();
                    (Some(namespace), name)
                }
                2 => (
                    Some((dice.pick(&["mcp__files", "files_", "calendar", "", "old ns", "x"])).to_owned()),
                    tool_name(dice),
                ),
                3 => (None, text(dice)),
                _ => match declared.names.as_slice() {
                    [] => (None, tool_name(dice)),
                    names => (None, dice.choose(names).clone()),
                },
            };
            item.set("name", name);
            match namespace {
                Some(namespace) => item.set("namespace", namespace),
                None => optional(&mut item, dice, 0.05, "namespace", |_| Node::Null),
            }
            item.set("arguments", arguments_text(dice));
            optional(&mut item, dice, 0.3, "status", |_| "completed".into());
            optional(&mut item, dice, 0.3, "id", |_| "fc_1".into());
            item
        }
        Kind::Custom => {
            let name = if dice.chance(0.8) { "apply_patch".to_owned() } else { text(dice) };
            object! { "type": "custom_tool_call", "call_id": id, "name": name, "input": text(dice) }
        }
        Kind::Search => {
            let mut item = object! { "type": "tool_search_call", "call_id": id };
            optional(&mut item, dice, 0.7, "execution", |dice| (dice.pick(&["client", "server"])).into());
            item.set("arguments", if dice.fault("search arguments") { "{}".into() } else { arguments(dice) });
            item
        }
    }
}

fn call_output(dice: &mut Dice, declared: &mut Declared, id: &str, kind: Kind) -> Node {
    match kind {
        Kind::Function => object! { "type": "function_call_output", "call_id": id, "output": output(dice) },
        Kind::Custom => {
            let mut item = object! { "type": "custom_tool_call_output", "call_id": id };
            optional(&mut item, dice, 0.9, "output", output);
            item
        }
        Kind::Search => {
            let mut item = object! { "type": "tool_search_output", "call_id": id };
            optional(&mut item, dice, 0.7, "execution", |dice| (dice.pick(&["client", "server"])).into());
            let list = tools(dice, declared, false, false);
            item.set("tools", list);
            item
        }
    }
}

fn output(dice: &mut Dice) -> Node {
    if dice.fault("output shape") {
        return match dice.below(4) {
            0 => Node::Null,
            1 => object! { "a": 1 },
            2 => vec![object! { "type": "output_text", "text": "x" }].into(),
            _ => vec![object! { "type": "text", "text": "x" }].into(),
        };
    }
    if dice.chance(0.7) {
        return text(dice).into();
    }
    let count = dice.below(4);
    (0..count).map(|_| block(dice, true, false)).collect::<Vec<_>>().into()
}

fn content(dice: &mut Dice, images: bool, assistant: bool) -> Node {
    if dice.fault("content") {
        return match dice.below(4) {
            0 => Node::Null,
            1 => number("5"),
            2 => object! { "type": "input_text", "text": "x" },
            _ => vec![Node::from("text")].into(),
        };
    }
    if dice.chance(0.5) {
        return text(dice).into();
    }
    let count = dice.weighted(&[(1, 0), (6, 1), (4, 2), (2, 4)]);
    (0..count).map(|_| block(dice, images, assistant)).collect::<Vec<_>>().into()
}

fn block(dice: &mut Dice, images: bool, assistant: bool) -> Node {
    if dice.fault("block type") {
        return match dice.below(7) {
            0 => object! { "type": "refusal", "refusal": "no" },
            1 => object! { "type": "input_audio", "data": "AAAA" },
            2 => object! { "type": "input_text" },
            3 => object! { "text": "x" },
            4 => object! { "type": "text", "text": "x" },
            5 => object! { "type": "summary_text", "text": "x" },
            _ => object! { "type": "image_url", "image_url": object! { "url": "http://x" } },
        };
    }
    if images && dice.fault("image reference") {
        let mut block = object! { "type": "input_image" };
        match dice.below(8) {
            0 => {}
            1 => block.set("image_url", ""),
            2 => block.set("file_id", "file-1"),
            3 => {
                block.set("file_id", "file-1");
                block.set("image_url", "http://x/y.png");
            }
            _ => block.set("image_url", image::bad_image_url(dice)),
        }
        return block;
    }
    match dice.weighted(&[(10, 0), (if images { 4 } else { 0 }, 1), (2, 2)]) {
        0 => {
            let kind = if assistant && dice.chance(0.8) { "output_text" } else { "input_text" };
            let mut block = object! { "type": kind, "text": text(dice) };
            if kind == "output_text" {
                optional(&mut block, dice, 0.4, "annotations", |_| Node::Array(Vec::new()));
                optional(&mut block, dice, 0.1, "logprobs", |_| Node::Array(Vec::new()));
            }
            block
        }
        1 => {
            let mut block = object! { "type": "input_image" };
            block.set("image_url", image::image_url(dice));
            optional(&mut block, dice, 0.1, "file_id", |_| Node::Null);
            optional(&mut block, dice, 0.4, "detail", |dice| {
                if dice.fault("detail") {
                    "medium".into()
                } else {
                    (dice.pick(&["low", "high", "original", "auto"])).into()
                }
            });
            block
        }
        _ => {
            let mut block = object! { "type": "input_file" };
            optional(&mut block, dice, 0.5, "file_data", |_| "data:application/pdf;base64,AAAA".into());
            optional(&mut block, dice, 0.3, "filename", |dice| text(dice).into());
            optional(&mut block, dice, 0.2, "file_id", |_| number("5"));
            block
        }
    }
}
