//! DSML, the markup of tool calls, as one table: the writer, the reader and the grammar all take tag names from
//! it.
//!
//! ```text
//! <｜DSML｜tool_calls>
//! <｜DSML｜invoke name="get_weather">
//! <｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
//! <｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>
//! </｜DSML｜invoke>
//! </｜DSML｜tool_calls>
//! ```
//!
//! `｜DSML｜` is one special token, so no text can form a tag.

use crate::conversation::Call;
use crate::json::{Json, Style};
use crate::prompt::Prompt;
use crate::token::Special;

/// The tag names and the layout of one model version's markup.
#[derive(Debug, PartialEq, Eq)]
pub struct Dsml {
    /// The block around all calls of a turn. Names include the space in front, where the version has one.
    pub block: &'static str,
    /// One call.
    pub invoke: &'static str,
    /// One argument.
    pub parameter: &'static str,
    /// How values other than strings are written.
    pub values: Style,
    /// Whether a call without arguments holds an empty line.
    pub empty_line_in_bare_call: bool,
}

impl Dsml {
    /// Writes what stands between an answer and its first call.
    pub(super) fn open_block(&self, prompt: &mut Prompt) {
        prompt.push_text("\n\n");
        self.tag(prompt, "<", self.block);
        prompt.push_text(">\n");
    }

    /// Writes the whole block of `calls`.
    pub(super) fn write_calls<'c>(&self, prompt: &mut Prompt, calls: impl IntoIterator<Item = &'c Call>) {
        self.open_block(prompt);
        for call in calls {
            self.write_call(prompt, call);
        }
        self.tag(prompt, "</", self.block);
        prompt.push_text(">");
    }

    fn write_call(&self, prompt: &mut Prompt, call: &Call) {
        self.tag(prompt, "<", self.invoke);
        prompt.push_text(" name=\"");
        prompt.push_text(&call.name);
        prompt.push_text("\">\n");
        for (name, value) in call.arguments.iter() {
            self.tag(prompt, "<", self.parameter);
            prompt.push_text(" name=\"");
            prompt.push_text(name);
            if let Json::String(text) = value {
                prompt.push_text("\" string=\"true\">");
                prompt.push_text(text);
            } else {
                prompt.push_text("\" string=\"false\">");
                prompt.push_json(value, self.values);
            }
            self.tag(prompt, "</", self.parameter);
            prompt.push_text(">\n");
        }
        if call.arguments.is_empty() && self.empty_line_in_bare_call {
            prompt.push_text("\n");
        }
        self.tag(prompt, "</", self.invoke);
        prompt.push_text(">\n");
    }

    fn tag(&self, prompt: &mut Prompt, open: &str, name: &str) {
        prompt.push_text(open);
        prompt.push_special(Special::Dsml);
        prompt.push_text(name);
    }
}
