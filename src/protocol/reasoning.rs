//! Whether a request thinks, how hard, and what becomes of earlier reasoning.

use crate::conversation::{Effort, Message, Score, Thinking};

use super::wire::{EffortField, ThinkingField};
use super::{Context, ErrorKind, MissingReasoning, RequestError, WarningKind};

/// What a request says about thinking.
pub(super) struct Requested {
    /// The explicit switch.
    switch: Option<bool>,
    /// The effort; `Some(None)` is the effort `none`.
    effort: Option<Option<Effort>>,
}

impl Requested {
    /// Reads the switch and the effort, which stands at `effort_path`.
    pub(super) fn read(
        context: &mut Context<'_>,
        switch: Option<&ThinkingField>,
        effort: Option<&EffortField>,
        effort_path: &str,
    ) -> Result<Self, RequestError> {
        let switch = match switch.map(|field| field.kind.as_str()) {
            None => None,
            Some("enabled" | "adaptive") => Some(true),
            Some("disabled") => Some(false),
            Some(other) => {
                let problem =
                    format!("unknown value `{other}`, expected `enabled`, `adaptive` or `disabled`");
                return Err(unknown("thinking.type", &problem));
            }
        };
        let effort = effort.map(|effort| read_effort(context, effort, effort_path)).transpose()?;
        Ok(Self { switch, effort })
    }

    /// The mode of the next turn. The switch decides, then the effort, then the default. A tool choice that
    /// forces a call rules thinking out: where only the default would think, the lenient policy does not.
    pub(super) fn resolve(&self, context: &mut Context<'_>, forced_tool_choice: bool) -> Thinking {
        let on = match (self.switch, self.effort) {
            (Some(on), _) => on,
            (None, Some(effort)) => effort.is_some(),
            (None, None) => {
                let on = context.options.default_thinking;
                if on && forced_tool_choice && !context.is_strict() {
                    let message =
                        "thinking, which is on by default, does not go with a forced tool choice: it is off";
                    context.note(WarningKind::ThinkingSwitchedOff, "tool_choice", message);
                    false
                } else {
                    on
                }
            }
        };
        if on { Thinking::On(self.effort.flatten().unwrap_or(Effort::High)) } else { Thinking::Off }
    }
}

fn read_effort(
    context: &mut Context<'_>,
    effort: &EffortField,
    path: &str,
) -> Result<Option<Effort>, RequestError> {
    match effort {
        EffortField::Name(name) => Ok(match name.as_str() {
            "none" => None,
            "minimal" | "low" => Some(Effort::Low),
            "medium" | "high" => Some(Effort::High),
            "xhigh" => Some(Effort::Xhigh),
            "ultra" | "max" => Some(Effort::Max),
            other => {
                let problem = format!(
                    "unknown effort `{other}`, expected `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `ultra`, \
                     `max` or a number from 1 to 100"
                );
                return Err(unknown(path, &problem));
            }
        }),
        EffortField::Number(number) => {
            let refusal = || unknown(path, "expected the name of an effort, found a number");
            let Some(score) = number.as_u64().and_then(Score::new) else {
                return Err(unknown(path, "an effort in numbers is an integer from 1 to 100"));
            };
            context.accept(WarningKind::NumericEffort, path, "the effort is a number", refusal)?;
            Ok(Some(Effort::Score(score)))
        }
    }
}

fn unknown(path: &str, problem: &str) -> RequestError {
    let message = format!("Failed to deserialize the JSON body into the target type: {path}: {problem}");
    RequestError::new(ErrorKind::Thinking, path, message)
}

/// Brings the reasoning of earlier assistant messages into the form that rendering expects: none at all without
/// thinking, at least empty reasoning with it.
///
/// `field` is where this API carries reasoning, for the error under [`MissingReasoning::Refuse`].
pub(super) fn normalize_history(
    context: &Context<'_>,
    messages: &mut [Message],
    thinking: Thinking,
    has_tools: bool,
    field: &str,
) -> Result<(), RequestError> {
    let last_user = messages.iter().rposition(|message| matches!(message, Message::User { .. }));
    for (index, message) in messages.iter_mut().enumerate() {
        let Message::Assistant(message) = message else { continue };
        if !thinking.is_on() {
            message.reasoning = None;
        } else if message.reasoning.is_none() {
            let in_last_turn = last_user.is_none_or(|last| index > last);
            let says_there_was_none =
                message.calls.iter().flatten().any(|call| is_empty_thinking_call_id(&call.id));
            let in_tool_turn = message.calls.is_some() || has_tools;
            if in_last_turn
                && in_tool_turn
                && !says_there_was_none
                && context.options.missing_reasoning == MissingReasoning::Refuse
            {
                let message = format!("The `{field}` in the thinking mode must be passed back to the API.");
                return Err(RequestError::new(ErrorKind::MissingReasoning, "", message));
            }
            message.reasoning = Some(String::new());
        }
    }
    Ok(())
}

/// Whether a call's id says that its turn had no reasoning: `call_00_ET_…`, also with its underscores removed.
fn is_empty_thinking_call_id(id: &str) -> bool {
    let id = id.as_bytes();
    id.is_ascii() && (id.get(8..11) == Some(b"ET_") || id.get(6..8) == Some(b"ET"))
}
