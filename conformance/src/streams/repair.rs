//! Inputs for which the reference does what this project does with the given one. Where the sides differ on purpose,
//! what ours makes of an input is compared with what the reference makes of its repaired form, in full.

use deepseek_codec::output::{Finish, OutputWarningKind as Kind};
use deepseek_codec::token::Special;
use serde_json::Value;

use super::events::Run;
use super::generate::{Mended, joined};
use super::markup;
use super::{Arrival, Input, Unit, reference, subject};

/// A repair: the id of the divergence that it stands for, and the input, if it applies.
type Repair = (&'static str, fn(&Input, &Run) -> Option<Input>);

/// In the order in which they are applied.
pub const REPAIRS: &[Repair] = &[
    ("stray-special", without_stray_specials),
    ("text-around-json", without_blanks_around_json),
    ("stop-in-think-end", without_think_ends_at_stops),
    ("stop-in-markup", without_idle_stops),
    ("stop-in-special", with_spelled_grounding),
    ("line-ends-behind-angle", without_line_ends_behind_angle),
    ("cut-tag", without_cut_tag),
    ("cut-call", cut_as_length),
    ("silent-end", with_stop),
];

/// The input of a fault, mended. The id is the fault's.
pub fn mend(input: &Input, mended: &Mended) -> Input {
    Input { output: mended.output.clone(), ..input.clone() }
}

/// Puts the names back for which others stood in.
pub fn rename(run: &mut Run, names: &[(String, String)]) {
    for (stand_in, name) in names {
        let (stand_in_json, name_json) = (Value::from(stand_in.as_str()), Value::from(name.as_str()));
        let (from, to) = (stand_in_json.to_string(), name_json.to_string());
        let rename = |value: &mut Value| rename_in(value, stand_in, name, &from, &to);
        run.events.iter_mut().for_each(|event| rename(&mut event.data));
        rename(&mut run.response);
    }
}

fn rename_in(value: &mut Value, stand_in: &str, name: &str, from: &str, to: &str) {
    match value {
        Value::String(text) if text == stand_in => name.clone_into(text),
        Value::String(text) => *text = text.replace(from, to),
        Value::Array(elements) => {
            elements.iter_mut().for_each(|element| rename_in(element, stand_in, name, from, to));
        }
        Value::Object(members) => {
            let old = std::mem::take(members);
            for (key, mut value) in old {
                rename_in(&mut value, stand_in, name, from, to);
                members.insert(if key == stand_in { name.to_owned() } else { key }, value);
            }
        }
        _ => {}
    }
}

/// Special tokens in text and in values are left out here; the reference shows their spelling.
fn without_stray_specials(input: &Input, ours: &Run) -> Option<Input> {
    let is_stray = |at: usize| {
        ours.warnings.iter().any(|warning| {
            let is_stray = warning.kind == Kind::StraySpecial
                || (warning.kind == Kind::ExtraThinkEnd && is_shown_there(input, at));
            is_stray && warning.at == at as u64
        })
    };
    without_specials(input, is_stray)
}

/// An end of reasoning that ends none is no part of the answer here. In text, the reference finds stop sequences in its
/// spelling, or across the end of it.
fn without_think_ends_at_stops(input: &Input, ours: &Run) -> Option<Input> {
    let is_left_out = |at: usize| {
        ours.warnings.iter().any(|warning| warning.kind == Kind::ExtraThinkEnd && warning.at == at as u64)
    };
    without_specials(input, |at| is_left_out(at) && has_stop_at_think_end(input, at))
}

/// Whether a stop sequence has a part in the spelling of an end of reasoning that stands at this place in a text.
pub fn has_stop_at_think_end(input: &Input, at: usize) -> bool {
    let text = input.text();
    let end = at + Special::ThinkEnd.spelling().len();
    input.arrival == Arrival::Text
        && stops(input).iter().any(|stop| {
            let mut starts = (at + 1).saturating_sub(stop.len())..end;
            starts.any(|start| text.as_bytes()[start..].starts_with(stop.as_bytes()))
        })
}

/// The stop sequences that the request asks for.
pub fn stops(input: &Input) -> Vec<&str> {
    let stops = ["stop", "stop_sequences"].iter().filter_map(|key| input.request[key].as_array()).flatten();
    stops.filter_map(Value::as_str).collect()
}

/// The input without the special tokens at certain places, if there are any.
fn without_specials(input: &Input, is_left_out: impl Fn(usize) -> bool) -> Option<Input> {
    let mut at = 0;
    let mut output = Vec::new();
    for unit in &input.output {
        if !(matches!(unit, Unit::Special(_)) && is_left_out(at)) {
            output.push(unit.clone());
        }
        at += unit.spelling().len();
    }
    (output != input.output).then(|| Input { output: joined(output), ..input.clone() })
}

/// Whether the reference shows an end of reasoning at this place: in values and JSON answers.
pub fn is_shown_there(input: &Input, at: usize) -> bool {
    let asks_for_json = input.request.get("response_format").is_some() || input.request.get("text").is_some();
    asks_for_json || markup::is_in_value(&input.output, at)
}

/// Ours shows what is complete of the arguments of a call that was cut, as Anthropic's SDKs do; the reference's response
/// shows none of them.
pub fn with_cut_arguments(theirs: &mut Run, ours: &Run) -> bool {
    let is_cut = ours.warnings.iter().any(|warning| warning.kind == Kind::CutCall);
    let count = |run: &Run| run.response["content"].as_array().map_or(0, Vec::len);
    let Some(last) = count(ours).checked_sub(1).filter(|_| is_cut && count(theirs) == count(ours)) else {
        return false;
    };
    let theirs = &mut theirs.response["content"][last];
    let is_empty = theirs["input"].as_object().is_some_and(serde_json::Map::is_empty);
    let mine = &ours.response["content"][last]["input"];
    if is_empty && theirs["input"] != *mine {
        theirs["input"] = mine.clone();
        return true;
    }
    false
}

/// The input with plain names in place of names that the reference cannot read, and which stands for which: names of
/// parameters that JSON would escape, or with spaces, and names of tools with quotes.
pub fn with_plain_names(input: &Input) -> Option<(Input, Vec<(String, String)>)> {
    let mut names = Vec::new();
    let mut output = input.output.clone();
    for index in 1..output.len() {
        let is_tag = output[index - 1] == Unit::Special(Special::Dsml);
        let Some(Unit::Text(text)) = output.get_mut(index).filter(|_| is_tag) else { continue };
        let start = text.len() - text.trim_start().len();
        let (start, end) = if text[start..].starts_with("parameter name=\"") {
            let start = start + "parameter name=\"".len();
            let ends = ["\" string=\"true\">", "\" string=\"false\">"];
            (start, ends.iter().filter_map(|end| text[start..].find(end)).min())
        } else if text[start..].starts_with("invoke name=\"") {
            let start = start + "invoke name=\"".len();
            (start, text[start..].find("\">").filter(|end| text[start..start + end].contains('"')))
        } else {
            continue;
        };
        let Some(end) = end.map(|end| start + end) else { continue };
        let name = &text[start..end];
        let is_odd = |c: char| c.is_ascii_control() || matches!(c, ' ' | '"' | '\\');
        if name.is_empty() || name.contains(is_odd) {
            let stand_in = format!("zq{}zq", names.len());
            names.push((stand_in.clone(), name.to_owned()));
            text.replace_range(start..end, &stand_in);
        }
    }
    (!names.is_empty()).then(|| (Input { output, ..input.clone() }, names))
}

/// Where grounding tokens count as text, stop sequences apply to their spelling; the reference looks for them between
/// special tokens.
fn with_spelled_grounding(input: &Input, _: &Run) -> Option<Input> {
    let spelled = |unit: &Unit| match unit {
        Unit::Special(special) if Special::GROUNDING.contains(special) => {
            Unit::Text(special.spelling().to_owned())
        }
        unit => unit.clone(),
    };
    let output = joined(input.output.iter().map(spelled).collect());
    (input.arrival == Arrival::Tokens && output != input.output).then(|| Input { output, ..input.clone() })
}

/// Blanks around a JSON answer are left out here; the reference writes spaces for those in front, and keeps the others.
fn without_blanks_around_json(input: &Input, _: &Run) -> Option<Input> {
    let is_json = input.request.get("response_format").is_some() || input.request.get("text").is_some();
    let mut output = input.output.clone();
    let Some(Unit::Text(text)) = output.last_mut().filter(|_| is_json) else { return None };
    let json = text.trim();
    // An answer that is not complete may go on with blanks.
    let json = if json.ends_with('}') || json.is_empty() { json } else { text.trim_start() };
    *text = json.to_owned();
    (output != input.output).then(|| Input { output: joined(output), ..input.clone() })
}

/// Stop sequences apply to the answer here; the reference also finds them in the line ends in front of an answer and of
/// a block, and in the beginning of a block's tag.
fn without_idle_stops(input: &Input, _: &Run) -> Option<Input> {
    let key = if input.request.get("stop_sequences").is_some() { "stop_sequences" } else { "stop" };
    let stops = input.request.get(key)?.as_array()?;
    let mut free = input.clone();
    free.request.as_object_mut()?.remove(key);
    let answer = content(&subject::run(&free).ok()?.response);
    let is_used = |stop: &&Value| stop.as_str().is_some_and(|stop| answer.contains(stop));
    let used: Vec<Value> = stops.iter().filter(is_used).cloned().collect();
    if used.iter().any(|stop| stop.as_str().is_some_and(|stop| stop.contains('\n'))) {
        free.output = without_idle_line_ends(input);
    }
    if !used.is_empty() {
        free.request[key] = used.into();
    }
    (free.request != input.request || free.output != input.output).then_some(free)
}

/// The output without the line ends that belong to neither side's answer.
fn without_idle_line_ends(input: &Input) -> Vec<Unit> {
    let mut output = input.output.clone();
    let is_continued = input.request["messages"].as_array().is_some_and(|messages| messages.len() > 1);
    for index in 0..output.len() {
        let is_first =
            index == 0 && !is_continued || index > 0 && output[index - 1] == Unit::Special(Special::ThinkEnd);
        let is_last = output.get(index + 1) == Some(&Unit::Special(Special::Dsml));
        let Unit::Text(text) = &mut output[index] else { continue };
        if is_first {
            *text = text.trim_start_matches('\n').to_owned();
        }
        if let (true, Some(before)) = (is_last, text.strip_suffix('<')) {
            *text = format!("{}<", before.trim_end_matches('\n'));
        }
    }
    joined(output)
}

/// The answer of a response.
pub fn content(response: &Value) -> String {
    if let Some(text) = response["choices"][0]["message"]["content"].as_str() {
        return text.to_owned();
    }
    let mut content = String::new();
    let items = response["output"].as_array().into_iter().flatten();
    for block in items.flat_map(|item| item["content"].as_array().into_iter().flatten()) {
        if block["type"] == "output_text" {
            content.push_str(block["text"].as_str().unwrap_or_default());
        }
    }
    for block in response["content"].as_array().into_iter().flatten() {
        content.push_str(block["text"].as_str().unwrap_or_default());
    }
    content
}

/// Line ends in front of a block and of the end of reasoning belong to neither. The reference keeps the first one
/// behind what looked like the beginning of the marker.
fn without_line_ends_behind_angle(input: &Input, _: &Run) -> Option<Input> {
    let mut output = input.output.clone();
    let mut has_changed = false;
    for index in 1..output.len() {
        let Unit::Special(special) = output[index] else { continue };
        let Unit::Text(text) = &mut output[index - 1] else { continue };
        let (marker, end) = match special {
            Special::ThinkEnd => ("</think>", ""),
            Special::Dsml => ("<｜DSML｜", "<"),
            _ => continue,
        };
        let Some(before) = text.strip_suffix(end) else { continue };
        let shown = before.trim_end_matches('\n');
        let begins = marker.char_indices().skip(1).any(|(at, _)| shown.ends_with(&marker[..at]));
        if shown.len() < before.len() && begins {
            *text = format!("{shown}{end}");
            has_changed = true;
        }
    }
    has_changed.then(|| Input { output, ..input.clone() })
}

/// The reference's run in which the last call keeps its state. A call that is complete stays so when the output is cut
/// behind it here; the reference takes the last item for incomplete.
pub fn with_whole_last_call(input: &Input, ours: &Run) -> Result<Option<Run>, String> {
    let is_cut = ours.warnings.iter().any(|warning| warning.kind == Kind::CutCall);
    let last = ours.response["output"].as_array().and_then(|items| items.last());
    let is_call = last.is_some_and(|item| item["type"].as_str().is_some_and(|kind| kind.ends_with("_call")));
    if is_cut || !is_call || !matches!(input.finish, Finish::Length | Finish::ContentFilter) {
        return Ok(None);
    }
    let mut whole = reference::run(&Input { finish: Finish::Stop, ..input.clone() })?;
    let cut = reference::run(input)?;
    let output = whole.response["output"].take();
    whole.response = cut.response;
    whole.response["output"] = output.clone();
    if let (Some(last), Some(cut)) = (whole.events.last_mut(), cut.events.into_iter().last()) {
        *last = cut;
        last.data["response"]["output"] = output;
    }
    Ok(Some(whole))
}

/// A tag in which the output ends is left out here; the reference acts on its beginning.
fn without_cut_tag(input: &Input, _: &Run) -> Option<Input> {
    let (tag, closes_value) = markup::unfinished(&input.output)?;
    // Either side takes a value for complete when markup begins.
    let length = if closes_value { tag.name_at } else { tag.start };
    let mut cut = input.prefix(length);
    if let (false, Some(Unit::Text(text))) = (closes_value, cut.output.last_mut()) {
        text.truncate(text.trim_end_matches('\n').len());
    }
    (cut.output != input.output).then_some(cut)
}

/// A call that was cut ends the output as at the limit here; the reference takes it for a whole call.
fn cut_as_length(input: &Input, ours: &Run) -> Option<Input> {
    let is_cut = ours.warnings.iter().any(|warning| warning.kind == Kind::CutCall);
    let applies = is_cut && matches!(input.finish, Finish::Stop | Finish::Unknown);
    applies.then(|| Input { finish: Finish::Length, ..input.clone() })
}

/// An engine that does not say why it stopped has stopped after calls, if there are any; the reference ends as if
/// there were none.
fn with_stop(input: &Input, _: &Run) -> Option<Input> {
    (input.finish == Finish::Unknown).then(|| Input { finish: Finish::Stop, ..input.clone() })
}
