//! The calls of an output: their names, parameters and ends.

use crate::json::Json;

use super::arguments;
use super::machine::{Machine, Mode, Sink, warn_at};
use super::markup::ValueForm;
use super::{Event, JsonTypes, OutputWarningKind as Kind, StopReason};

#[derive(Debug, Clone)]
pub(super) struct Call {
    index: usize,
    name: String,
    parameters: usize,
    /// Text in place of parameters.
    pub(super) body: String,
    /// Where that text begins, if it is more than blanks.
    pub(super) body_at: Option<u64>,
    /// Whether no events are made, because no tools are offered.
    pub(super) silent: bool,
}

impl Machine {
    /// Ends a call that was not closed.
    pub(super) fn close_call(&mut self, sink: Sink<'_>) {
        if self.call.is_some() {
            self.warn(Kind::MissingClose, sink);
            self.end_call(true, sink);
        }
    }

    pub(super) fn open_call(&mut self, name: &str, sink: Sink<'_>) {
        if matches!(self.mode, Mode::Ended) {
            return;
        }
        let silent = match &self.plan.tools {
            None => {
                self.warn(Kind::CallWithoutTools, sink);
                true
            }
            Some(tools) => {
                if !tools.iter().any(|tool| tool == name) {
                    self.warn(Kind::UnknownTool, sink);
                }
                false
            }
        };
        let index = self.calls;
        self.calls += usize::from(!silent);
        self.call = Some(Call {
            index,
            name: name.to_owned(),
            parameters: 0,
            body: String::new(),
            body_at: None,
            silent,
        });
        self.mode = Mode::Call;
        if !silent {
            sink(Event::CallStart { index, name });
        }
    }

    pub(super) fn open_value(&mut self, name: &str, form: ValueForm, sink: Sink<'_>) {
        let Some(call) = &mut self.call else {
            self.warn(Kind::StrayMarkup, sink);
            return;
        };
        let key = arguments::key(name, call.parameters == 0);
        call.parameters += 1;
        let types = self.plan.types.get(&call.name).and_then(|types| types.get(name)).copied();
        self.argument(&key, sink);
        self.mode = match (form, types) {
            (ValueForm::String, None) => {
                self.argument("\"", sink);
                Mode::StringValue
            }
            _ => Mode::HeldValue { text: String::new(), form, types },
        };
    }

    pub(super) fn end_value(&mut self, sink: Sink<'_>) {
        match std::mem::replace(&mut self.mode, Mode::Call) {
            Mode::StringValue => self.argument("\"", sink),
            Mode::HeldValue { text, form, types } => self.held_value(text, form, types, sink),
            other => self.mode = other,
        }
    }

    fn held_value(&self, text: String, form: ValueForm, types: Option<JsonTypes>, sink: Sink<'_>) {
        let json = Json::parse(text.as_bytes()).ok();
        match (form, &json) {
            (ValueForm::Unknown, _) => self.warn(Kind::UntypedParameter, sink),
            (ValueForm::Json, None) => self.warn(Kind::InvalidJsonValue, sink),
            _ => {}
        }
        if let Some(types) = types {
            let inner = match (form, &json) {
                // A string whose text is the JSON that is wanted.
                (ValueForm::String, Some(json)) if types.allow(json) => Some(text.as_str()),
                (_, Some(Json::String(inner))) => Some(inner.as_str())
                    .filter(|inner| Json::parse(inner.as_bytes()).is_ok_and(|json| types.allow(&json))),
                _ => None,
            };
            if let Some(inner) = inner {
                self.warn(Kind::DoubleEncoded, sink);
                self.argument(inner, sink);
                return;
            }
        }
        let is_written = json.is_some() && form != ValueForm::String;
        let value = if is_written { text } else { arguments::quoted(&text) };
        self.argument(&value, sink);
    }

    pub(super) fn argument(&self, json: &str, sink: Sink<'_>) {
        if let Some(call) = self.call.as_ref().filter(|call| !call.silent && !json.is_empty()) {
            sink(Event::CallArguments { index: call.index, json });
        }
    }

    /// Ends the call; it is complete if it was `closed` and its arguments can be read.
    pub(super) fn end_call(&mut self, closed: bool, sink: Sink<'_>) {
        let Some(mut call) = self.call.take() else { return };
        let body = std::mem::take(&mut call.body);
        let body = body.trim();
        let body_at = call.body_at.unwrap_or(self.at);
        let object = match Json::parse(body.as_bytes()) {
            Ok(Json::Object(_)) => Some(body.to_owned()),
            Ok(Json::String(text)) => {
                Some(text).filter(|text| matches!(Json::parse(text.as_bytes()), Ok(Json::Object(_))))
            }
            _ => None,
        };
        let mut complete = closed;
        self.call = Some(call);
        let has_parameters = self.call.as_ref().is_some_and(|call| call.parameters > 0);
        match (has_parameters, body.is_empty()) {
            _ if !closed => {
                let kept = match &self.mode {
                    // A string that was held to see whether it is JSON.
                    Mode::HeldValue { text, form: ValueForm::String, .. } => {
                        let quoted = arguments::quoted(text);
                        quoted[..quoted.len() - 1].to_owned()
                    }
                    Mode::HeldValue { text, .. } => text.clone(),
                    _ => String::new(),
                };
                self.argument(&kept, sink);
            }
            (true, true) => self.argument("}", sink),
            (true, false) => {
                warn_at(Kind::TextInMarkup, body_at, sink);
                self.argument("}", sink);
            }
            (false, true) => self.argument("{}", sink),
            (false, false) => {
                if let Some(object) = object {
                    warn_at(Kind::JsonBody, body_at, sink);
                    self.argument(&object, sink);
                } else {
                    warn_at(Kind::UnreadableCall, body_at, sink);
                    complete = false;
                }
            }
        }
        let Some(call) = self.call.take() else { return };
        self.mode = if self.in_block { Mode::Block { warned: false } } else { Mode::AfterBlock };
        if call.silent {
            return;
        }
        sink(Event::CallEnd { index: call.index, complete });
        self.has_calls |= complete;
        if closed && self.plan.single_call {
            let reason = if complete { StopReason::ToolCalls } else { StopReason::Length };
            self.end(reason, None, sink);
        }
        // What was unreadable is as good as cut: its caller must not take it for a whole answer.
        self.has_cut_call |= !complete;
    }
}
