//! Outputs that were generated without a mask, validated while they are streamed.

use crate::constraint::{Validator, Violation};
use crate::output::{Event, StopReason};

/// A violation, and the part of the response that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaWarning {
    /// The call: its number in the output, and the tool. `None` for the answer.
    pub call: Option<(usize, String)>,
    /// What is wrong.
    pub violation: Violation,
}

/// Holds the text of answers and calls until they are complete.
#[derive(Debug, Clone)]
pub(super) struct Checks {
    validator: Validator,
    answer: String,
    call: Option<(usize, String)>,
    arguments: String,
    pub(super) warnings: Vec<SchemaWarning>,
}

impl Checks {
    pub(super) fn new(validator: Validator) -> Self {
        Self { validator, answer: String::new(), call: None, arguments: String::new(), warnings: Vec::new() }
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Content { text, .. } if self.validator.has_answer() => self.answer.push_str(text),
            Event::CallStart { index, name } => {
                self.call = Some((*index, (*name).to_owned()));
                self.arguments.clear();
            }
            Event::CallArguments { json, .. } => self.arguments.push_str(json),
            Event::CallEnd { complete: true, .. } => {
                if let Some(call) = self.call.take() {
                    let violations = self.validator.call(&call.1, &self.arguments);
                    self.warn(Some(&call), violations);
                }
            }
            Event::Stop { reason: StopReason::End | StopReason::StopSequence, .. } => {
                let violations = self.validator.answer(&self.answer);
                self.warn(None, violations);
            }
            _ => {}
        }
    }

    fn warn(&mut self, call: Option<&(usize, String)>, violations: Vec<Violation>) {
        let warning = |violation| SchemaWarning { call: call.cloned(), violation };
        self.warnings.extend(violations.into_iter().map(warning));
    }
}
