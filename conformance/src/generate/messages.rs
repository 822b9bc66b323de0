//! Messages requests.

use super::chat::fresh_name;
use super::dice::Dice;
use super::json::{Use, arguments, bad_schema, object_schema, value};
use super::text::{call_id, some_text, text, tool_name};
use super::{
    boolean, disorder, effort, ignored_fields, image, max_tokens, model, number, optional, temperature,
    thinking, top_p,
};
use crate::body::Node;
use crate::object;

const IGNORED: &[&str] = &[
    "container",
    "mcp_servers",
    "service_tier",
    "top_k",
    "betas",
    "context_management",
    "stop",
    "n",
    "seed",
    "response_format",
    "inference_geo",
    "output_format",
    "reasoning_effort",
    "anthropic_version",
    "cache_control",
];

struct Declared {
    names: Vec<String>,
}

pub(super) fn request(dice: &mut Dice) -> Node {
    let mut body = object! { "model": model(dice) };
    let mut declared = Declared { names: Vec::new() };
    let has_tools = dice.chance(0.55);
    let list = if has_tools { Some(tools(dice, &mut declared)) } else { None };
    if dice.chance(0.85) {
        body.set("max_tokens", messages_max_tokens(dice));
    }
    body.set("messages", messages(dice, &declared));
    optional(&mut body, dice, 0.6, "system", system);
    match list {
        Some(list) => body.set("tools", list),
        None => optional(&mut body, dice, 0.05, "tools", |_| Node::Array(Vec::new())),
    }
    optional(&mut body, dice, 0.45, "thinking", thinking);
    optional(&mut body, dice, 0.25, "output_config", |dice| {
        let mut config = object! {};
        optional(&mut config, dice, 0.9, "effort", effort);
        optional(&mut config, dice, 0.2, "format", |_| {
            object! { "type": "json_schema", "schema": object! { "type": "object" } }
        });
        config
    });
    let thinks = match body.get("thinking").and_then(|thinking| thinking.get("type")) {
        Some(Node::String(kind)) => kind != "disabled",
        _ => body.get("output_config").and_then(|config| config.get("effort")) != Some(&Node::from("none")),
    };
    if dice.chance(if has_tools { 0.45 } else { 0.08 }) {
        let choice = tool_choice(dice, &declared, thinks);
        body.set("tool_choice", choice);
    }
    optional(&mut body, dice, 0.4, "stream", boolean);
    optional(&mut body, dice, 0.25, "temperature", temperature);
    optional(&mut body, dice, 0.25, "top_p", top_p);
    optional(&mut body, dice, 0.15, "stop_sequences", |dice| {
        if dice.fault("stop") {
            return match dice.below(4) {
                0 => "a".into(),
                1 => vec![Node::from("a"), "".into()].into(),
                2 => (0..17).map(|index| Node::from(index.to_string())).collect::<Vec<_>>().into(),
                _ => vec![Node::from("a"), number("5")].into(),
            };
        }
        let count = dice.weighted(&[(1, 0), (4, 1), (4, 2), (1, 16)]);
        (0..count).map(|_| Node::from(some_text(dice))).collect::<Vec<_>>().into()
    });
    optional(&mut body, dice, 0.2, "metadata", |dice| {
        if dice.fault("metadata") {
            return match dice.below(3) {
                0 => "x".into(),
                1 => object! { "user_id": 5 },
                _ => Node::Array(Vec::new()),
            };
        }
        let mut metadata = object! {};
        optional(&mut metadata, dice, 0.8, "user_id", |dice| text(dice).into());
        optional(&mut metadata, dice, 0.2, "extra", |dice| value(dice, 1));
        metadata
    });
    ignored_fields(&mut body, dice, IGNORED);
    body
}

/// Values above the bound are lowered here, not refused.
fn messages_max_tokens(dice: &mut Dice) -> Node {
    if dice.chance(0.1) {
        return number(dice.pick(&["393217", "1000000", "4294967295"]));
    }
    max_tokens(dice)
}

fn system(dice: &mut Dice) -> Node {
    if dice.fault("system") {
        return match dice.below(4) {
            0 => number("5"),
            1 => object! { "type": "text", "text": "x" },
            2 => vec![object! { "type": "image", "source": object! { "type": "url", "url": "http://x" } }]
                .into(),
            _ => vec![Node::from("x")].into(),
        };
    }
    if dice.chance(0.4) {
        return text(dice).into();
    }
    let count = dice.weighted(&[(1, 0), (6, 1), (5, 2), (2, 3)]);
    let mut blocks = Vec::new();
    for index in 0..count {
        let mut content = text(dice);
        if index == 0 && dice.chance(0.15) {
            content = (dice.pick(&[
                "x-anthropic-billing-header: cc_version=2; cch=0;",
                "X-ANTHROPIC-BILLING-HEADER",
                "x-anthropic-billing-header\nYou are",
                " x-anthropic-billing-header",
                "x-anthropic-billing-heade",
                "x-anthropic-bılling-header",
            ]))
            .to_owned();
        }
        let mut block = object! { "type": "text", "text": content };
        cache(&mut block, dice);
        blocks.push(block);
    }
    blocks.into()
}

fn cache(block: &mut Node, dice: &mut Dice) {
    optional(block, dice, 0.1, "cache_control", |_| object! { "type": "ephemeral", "ttl": "1h" });
}

fn tools(dice: &mut Dice, declared: &mut Declared) -> Node {
    let count = dice.weighted(&[(6, 1), (5, 2), (3, 4), (1, 8)]);
    let all_deferred = dice.fault("all deferred");
    let mut list = Vec::new();
    for index in 0..count {
        if dice.fault("server tool") {
            list.push(match dice.below(5) {
                0 => object! { "type": "web_search_20250305", "name": "web_search" },
                1 => object! { "type": "bash_20250124", "name": "bash" },
                2 => object! { "type": "custom", "name": tool_name(dice), "input_schema": object! { "type": "object" } },
                3 => object! { "type": 5, "name": "x" },
                _ => object! { "type": "web_search_20260209" },
            });
            continue;
        }
        let name = fresh_name(dice, &declared.names);
        declared.names.push(name.clone());
        let mut tool = object! { "name": name };
        optional(&mut tool, dice, 0.8, "description", |dice| text(dice).into());
        let schema = if dice.fault("schema") { bad_schema(dice) } else { object_schema(dice, Use::Loose) };
        if !dice.fault("no input schema") {
            tool.set("input_schema", schema);
        }
        if all_deferred {
            tool.set("defer_loading", true);
        } else if index > 0 {
            optional(&mut tool, dice, 0.3, "defer_loading", boolean);
        } else {
            optional(&mut tool, dice, 0.1, "defer_loading", |_| Node::Bool(false));
        }
        cache(&mut tool, dice);
        optional(&mut tool, dice, 0.05, "strict", boolean);
        optional(&mut tool, dice, 0.05, "input_examples", |dice| value(dice, 1));
        if dice.fault("tool shape") {
            tool = match dice.below(3) {
                0 => object! { "input_schema": object! { "type": "object" } },
                1 => object! { "name": 5, "input_schema": object! { "type": "object" } },
                _ => "bash".into(),
            };
        }
        list.push(tool);
    }
    list.into()
}

fn tool_choice(dice: &mut Dice, declared: &Declared, thinks: bool) -> Node {
    if dice.fault("tool choice") {
        return match dice.below(5) {
            0 => object! { "type": "tool", "name": "nobody" },
            1 => object! { "type": "tool" },
            2 => object! { "type": "required" },
            3 => "auto".into(),
            _ => value(dice, 1),
        };
    }
    let forced = usize::from(!thinks || dice.fault("forced in thinking"));
    let mut choice = match dice.weighted(&[(3, 0), (3, 1), (3, 2), (5 * forced, 3)]) {
        0 => object! { "type": "auto" },
        1 => object! { "type": "any" },
        2 => object! { "type": "none" },
        _ => match declared.names.as_slice() {
            [] => object! { "type": "auto" },
            names => object! { "type": "tool", "name": dice.choose(names).clone() },
        },
    };
    optional(&mut choice, dice, 0.3, "disable_parallel_tool_use", boolean);
    choice
}

fn messages(dice: &mut Dice, declared: &Declared) -> Node {
    if dice.fault("no messages") {
        return match dice.below(3) {
            0 => Node::Array(Vec::new()),
            1 => "hello".into(),
            _ => Node::Null,
        };
    }
    let mut out = Vec::new();
    let mut counter = 0;
    let turns = dice.weighted(&[(4, 1), (4, 2), (3, 4), (1, 8)]);
    for _ in 0..turns {
        match dice.weighted(&[(9, 0), (6, 1), (8, 2), (3, 3)]) {
            0 => out.push(user(dice)),
            1 => out.push(assistant(dice)),
            2 => exchange(dice, declared, &mut out, &mut counter),
            _ => out.push(system_message(dice, declared)),
        }
        if dice.fault("odd message") {
            out.push(odd_message(dice));
        }
    }
    if dice.chance(0.75) || out.is_empty() {
        out.push(user(dice));
    }
    out.into()
}

fn odd_message(dice: &mut Dice) -> Node {
    let one = |block: Node| Node::Array(vec![block]);
    let tool_use = || object! { "type": "tool_use", "id": "toolu_odd", "name": "f", "input": object! {} };
    let result = || object! { "type": "tool_result", "tool_use_id": "toolu_none", "content": "x" };
    let search = || object! { "type": "web_search_tool_result", "tool_use_id": "x", "content": Node::Array(Vec::new()) };
    let server =
        || object! { "type": "server_tool_use", "id": "x", "name": "web_search", "input": object! {} };
    let thought = || object! { "type": "thinking", "thinking": "x" };
    let addition = || object! { "type": "tool_addition", "tool": object! { "type": "tool_reference", "name": "nobody" } };
    let role = dice.pick(&["user", "assistant", "system"]);
    match dice.below(14) {
        0 => object! { "role": role, "content": one(tool_use()) },
        1 => object! { "role": role, "content": one(result()) },
        2 => object! { "role": role, "content": one(search()) },
        3 => object! { "role": role, "content": one(server()) },
        4 => object! { "role": role, "content": one(thought()) },
        5 => object! { "role": role, "content": one(addition()) },
        6 => object! { "role": role, "content": Node::Array(Vec::new()) },
        7 => object! { "role": "tool", "content": "x" },
        8 => object! { "role": "developer", "content": "x" },
        9 => object! { "role": role },
        10 => object! { "role": role, "content": Node::Null },
        11 => object! { "role": role, "content": one(object! { "type": "redacted_thinking", "data": "x" }) },
        12 => object! { "role": role, "content": vec![tool_use(), tool_use()] },
        _ => value(dice, 2),
    }
}

fn user(dice: &mut Dice) -> Node {
    if dice.chance(0.5) {
        return object! { "role": "user", "content": text(dice) };
    }
    let count = dice.weighted(&[(6, 1), (5, 2), (2, 4)]);
    let blocks: Vec<Node> = (0..count).map(|_| block(dice, true)).collect();
    object! { "role": "user", "content": blocks }
}

fn system_message(dice: &mut Dice, declared: &Declared) -> Node {
    if dice.chance(0.3) {
        return object! { "role": "system", "content": text(dice) };
    }
    let count = dice.below(4);
    let mut blocks = Vec::new();
    for _ in 0..count {
        if dice.chance(0.4) && !declared.names.is_empty() || dice.fault("tool addition") {
            let name = if declared.names.is_empty() || dice.fault("tool addition") {
                "nobody".to_owned()
            } else {
                dice.choose(&declared.names).clone()
            };
            blocks.push(object! { "type": "tool_addition", "tool": object! { "type": "tool_reference", "name": name } });
        } else {
            blocks.push(block(dice, true));
        }
    }
    object! { "role": "system", "content": blocks }
}

fn assistant(dice: &mut Dice) -> Node {
    if dice.chance(0.4) {
        return object! { "role": "assistant", "content": text(dice) };
    }
    let mut blocks = thoughts(dice);
    let count = dice.between(usize::from(blocks.is_empty()), 2);
    let images = dice.fault("assistant image");
    blocks.extend((0..count).map(|_| block(dice, images)).collect::<Vec<_>>());
    object! { "role": "assistant", "content": blocks }
}

fn thoughts(dice: &mut Dice) -> Vec<Node> {
    let count = dice.weighted(&[(5, 0), (5, 1), (1, 2)]);
    (0..count)
        .map(|_| {
            let mut block = object! { "type": "thinking", "thinking": text(dice) };
            optional(&mut block, dice, 0.8, "signature", |dice| {
                if dice.fault("signature") { number("5") } else { "c2ln".into() }
            });
            block
        })
        .collect()
}

fn exchange(dice: &mut Dice, declared: &Declared, out: &mut Vec<Node>, counter: &mut usize) {
    let count = dice.weighted(&[(8, 1), (4, 2), (2, 3), (1, 5)]);
    let mut ids: Vec<String> = (0..count).map(|_| call_id(dice, counter)).collect();
    if count > 1 && dice.fault("duplicate call") {
        ids[1] = ids[0].clone();
    }
    let mut blocks = thoughts(dice);
    if dice.chance(0.5) {
        blocks.push(block(dice, false));
    }
    for id in &ids {
        let name = match declared.names.as_slice() {
            names if !names.is_empty() && dice.chance(0.8) => dice.choose(names).clone(),
            _ if dice.chance(0.9) => tool_name(dice),
            _ => text(dice),
        };
        let input = if dice.chance(0.06) { value(dice, 2) } else { arguments(dice) };
        let mut call = object! { "type": "tool_use", "id": id.clone(), "name": name, "input": input };
        optional(&mut call, dice, 0.1, "caller", |_| object! { "type": "direct" });
        cache(&mut call, dice);
        if dice.fault("call shape") {
            call = match dice.below(3) {
                0 => object! { "type": "tool_use", "id": id.clone(), "name": "f" },
                1 => object! { "type": "tool_use", "name": "f", "input": object! {} },
                _ => object! { "type": "tool_use", "id": 5, "name": "f", "input": object! {} },
            };
        }
        blocks.push(call);
        if dice.fault("text after call") {
            blocks.push(block(dice, true));
        }
        if dice.chance(0.03) {
            blocks.extend(thoughts(dice));
        }
    }
    out.push(object! { "role": "assistant", "content": blocks });
    if dice.fault("between calls") {
        let role = dice.pick(&["user", "assistant", "system"]);
        out.push(object! { "role": role, "content": text(dice) });
    }
    disorder(&mut ids, dice, "toolu_unknown");
    let mut blocks = Vec::new();
    if dice.fault("text before result") {
        blocks.push(block(dice, true));
    }
    for id in ids {
        blocks.push(result(dice, declared, &id));
    }
    if dice.chance(0.3) {
        blocks.push(block(dice, true));
    }
    out.push(object! { "role": "user", "content": blocks });
}

fn result(dice: &mut Dice, declared: &Declared, id: &str) -> Node {
    let mut result = object! { "type": "tool_result", "tool_use_id": id };
    optional(&mut result, dice, 0.92, "content", |dice| {
        if dice.fault("result content") {
            return match dice.below(4) {
                0 => number("5"),
                1 => object! { "type": "text", "text": "x" },
                2 => vec![object! { "type": "search_result", "source": "x" }].into(),
                _ => vec![object! { "type": "thinking", "thinking": "x" }].into(),
            };
        }
        if dice.chance(0.6) {
            return text(dice).into();
        }
        let count = dice.below(4);
        let mut blocks = Vec::new();
        for _ in 0..count {
            let references = !declared.names.is_empty() && dice.chance(0.3) || dice.fault("tool reference");
            blocks.push(if references {
                let name = if declared.names.is_empty() || dice.fault("tool reference") {
                    "nobody".to_owned()
                } else {
                    dice.choose(&declared.names).clone()
                };
                object! { "type": "tool_reference", "tool_name": name }
            } else {
                block(dice, true)
            });
        }
        blocks.into()
    });
    optional(&mut result, dice, 0.2, "is_error", boolean);
    cache(&mut result, dice);
    result
}

/// A text, image or document block.
fn block(dice: &mut Dice, images: bool) -> Node {
    if dice.fault("block type") {
        return match dice.below(6) {
            0 => object! { "type": "redacted_thinking", "data": "x" },
            1 => object! { "type": "container_upload", "file_id": "x" },
            2 => object! { "type": "text" },
            3 => object! { "text": "x" },
            4 => {
                object! { "type": "search_result", "source": "x", "title": "y", "content": Node::Array(Vec::new()) }
            }
            _ => object! { "type": "document", "title": "no source" },
        };
    }
    if images && dice.fault("image source") {
        return object! { "type": "image", "source": bad_image_source(dice) };
    }
    let mut block = match dice.weighted(&[(12, 0), (if images { 4 } else { 0 }, 1), (2, 2)]) {
        0 => {
            let mut block = object! { "type": "text", "text": text(dice) };
            optional(&mut block, dice, 0.1, "citations", |_| Node::Array(Vec::new()));
            block
        }
        1 => object! { "type": "image", "source": image_source(dice) },
        _ => {
            let mut source = object! {};
            optional(&mut source, dice, 0.8, "type", |dice| {
                (dice.pick(&["base64", "text", "url", "content", "file"])).into()
            });
            optional(&mut source, dice, 0.7, "media_type", |dice| {
                if dice.fault("media type") {
                    number("5")
                } else {
                    (dice.pick(&["application/pdf", "text/plain", "", "<think>"])).into()
                }
            });
            optional(&mut source, dice, 0.5, "data", |_| "AAAA".into());
            object! { "type": "document", "source": source, "title": "a.pdf" }
        }
    };
    cache(&mut block, dice);
    block
}

fn image_source(dice: &mut Dice) -> Node {
    if dice.chance(0.5) {
        object! { "type": "url", "url": image::http_url(dice) }
    } else {
        let media = dice.pick(&["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"]);
        object! { "type": "base64", "media_type": media, "data": image::payload(dice) }
    }
}

fn bad_image_source(dice: &mut Dice) -> Node {
    match dice.below(6) {
        0 => object! { "type": "file", "file_id": "file_1" },
        1 => {
            object! { "type": "base64", "media_type": dice.pick(&["image/bmp", "IMAGE/PNG", "image/png;a", ""]), "data": "AAAA" }
        }
        2 => object! { "type": "base64", "media_type": "image/png" },
        3 => object! { "type": "url", "url": image::bad_image_url(dice) },
        4 => object! { "type": "base64", "media_type": "image/png", "data": image::bad_payload(dice) },
        _ => object! { "type": "other" },
    }
}
