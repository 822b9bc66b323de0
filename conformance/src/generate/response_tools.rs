//! Tool declarations of Responses: at the top of a request, and as the result of a search.

use super::chat::{fresh_name, function_fields};
use super::dice::Dice;
use super::json::{Use, bad_schema, object_schema, value};
use super::optional;
use super::text::{bad_tool_name, text, tool_name};
use crate::body::Node;
use crate::object;

/// What the input items may refer to.
pub(super) struct Declared {
    pub(super) names: Vec<String>,
    /// Namespaces and the names of their tools.
    pub(super) namespaces: Vec<(String, String)>,
}

/// A list of tool declarations; at the `top` of a request or as the result of a search.
pub(super) fn tools(dice: &mut Dice, declared: &mut Declared, strict: bool, top: bool) -> Node {
    let count = dice.weighted(&[(usize::from(!top), 0), (6, 1), (5, 2), (3, 4), (1, 8)]);
    let mut list = Vec::new();
    for _ in 0..count {
        let tool = tool(dice, declared, strict, top);
        list.push(tool);
    }
    list.into()
}

fn tool(dice: &mut Dice, declared: &mut Declared, strict: bool, top: bool) -> Node {
    if dice.fault("tool kind") {
        return match dice.below(9) {
            0 => object! { "type": "custom", "name": "exec" },
            1 => object! { "type": "function" },
            2 => object! { "name": "f" },
            3 => object! { "type": "namespace", "name": "ns" },
            4 => object! { "type": "custom" },
            5 => object! { "type": "web_search", "search_context_size": "huge" },
            6 => object! { "type": "tool_search", "execution": "both" },
            7 => object! { "type": "function", "function": object! { "name": "f" } },
            _ => {
                object! { "type": "namespace", "name": bad_tool_name(dice), "tools": Node::Array(Vec::new()) }
            }
        };
    }
    // Only unknown kinds cannot be written back into the prompt as a search result.
    let unknown = usize::from(top || dice.fault("unknown discovered tool"));
    let loose = usize::from(!strict);
    match dice.weighted(&[(14, 0), (5, 1), (2 * loose, 2), (3 * loose, 3), (2, 4), (2 * unknown, 5)]) {
        0 => {
            let name = fresh_name(dice, &declared.names);
            declared.names.push(name.clone());
            let mut tool = object! { "type": "function", "name": name };
            function_fields(&mut tool, dice, strict);
            tool
        }
        1 => namespace(dice, declared, strict),
        2 => {
            if declared.names.iter().any(|name| name == "apply_patch") && !dice.fault("duplicate tool") {
                return object! { "type": "web_search" };
            }
            declared.names.push("apply_patch".to_owned());
            let mut tool = object! { "type": "custom", "name": "apply_patch" };
            optional(&mut tool, dice, 0.6, "description", |dice| text(dice).into());
            optional(&mut tool, dice, 0.6, "format", |_| {
                object! { "type": "grammar", "syntax": "lark", "definition": "start: /x/" }
            });
            tool
        }
        3 => {
            let fresh = !declared.names.iter().any(|name| name == "tool_search");
            if !fresh && !dice.fault("duplicate tool") {
                return object! { "type": "tool_search" };
            }
            let mut tool = object! { "type": "tool_search" };
            optional(&mut tool, dice, 0.8, "execution", |dice| {
                (dice.pick(&["client", "client", "server"])).into()
            });
            optional(&mut tool, dice, 0.6, "description", |dice| text(dice).into());
            optional(&mut tool, dice, 0.6, "parameters", |dice| {
                if dice.fault("schema") { bad_schema(dice) } else { object_schema(dice, Use::Loose) }
            });
            if tool.get("execution") == Some(&Node::from("client")) {
                declared.names.push("tool_search".to_owned());
            }
            tool
        }
        4 => {
            let mut tool = object! { "type": dice.pick(&["web_search", "web_search_2025_08_26"]) };
            optional(&mut tool, dice, 0.4, "search_context_size", |dice| {
                (dice.pick(&["low", "medium", "high"])).into()
            });
            optional(&mut tool, dice, 0.4, "user_location", |_| {
                object! { "type": "approximate", "city": "Paris", "country": "FR", "region": Node::Null }
            });
            optional(&mut tool, dice, 0.2, "filters", |dice| value(dice, 1));
            tool
        }
        _ => {
            let kind = dice.pick(&[
                "file_search",
                "mcp",
                "code_interpreter",
                "image_generation",
                "local_shell",
                "shell",
                "computer_use_preview",
                "web_search_preview",
                "apply_patch",
                "new_kind",
            ]);
            object! { "type": kind, "server_label": "x", "container": object! { "type": "auto" } }
        }
    }
}

fn namespace(dice: &mut Dice, declared: &mut Declared, strict: bool) -> Node {
    let name = if dice.chance(0.7) {
        (dice.pick(&["mcp__files", "files_", "calendar", "a", "_x", "ns-1"])).to_owned()
    } else {
        tool_name(dice)
    };
    let count = dice.weighted(&[(1, 0), (4, 1), (4, 2), (1, 4)]);
    let mut inner_names: Vec<String> = Vec::new();
    let mut list = Vec::new();
    for _ in 0..count {
        if dice.fault("custom in namespace") {
            list.push(object! { "type": "custom", "name": tool_name(dice) });
            continue;
        }
        let inner = if dice.fault("bad inner name") {
            bad_tool_name(dice)
        } else if !inner_names.is_empty() && dice.fault("duplicate inner") {
            inner_names[0].clone()
        } else {
            let mut inner = if dice.chance(0.5) {
                (dice.pick(&["read", "_write", "list", "f", "x_1"])).to_owned()
            } else {
                tool_name(dice)
            };
            while inner_names.contains(&inner) {
                inner.push('x');
            }
            inner
        };
        inner_names.push(inner.clone());
        declared.namespaces.push((name.clone(), inner.clone()));
        let mut tool = object! { "type": "function", "name": inner };
        function_fields(&mut tool, dice, strict);
        list.push(tool);
    }
    if dice.fault("namespace tool kind") {
        list.push(object! { "type": "web_search" });
    }
    let mut tool = object! { "type": "namespace", "name": name };
    optional(&mut tool, dice, 0.7, "description", |dice| text(dice).into());
    tool.set("tools", list);
    tool
}
