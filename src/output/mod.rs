//! What a model generates, read while it arrives: reasoning, answer, tool calls, stops.
//!
//! A [`Parser`] takes the pieces of a model's output and hands flat [`Event`]s to a sink. It is synchronous, does no
//! I/O, takes time linear in its input and holds back no more than it must. What it reports does not depend on how
//! the input was cut into pieces, but for where texts and arguments are cut into events.
//!
//! A [`Decoder`] does that from ids, and can take the last ones back.
//!
//! Input is either tokens ([`Parser::text`] for plain text, [`Parser::special`] for special tokens: markers are then
//! recognised as tokens only, and text that spells them is text), or text without token borders
//! ([`Parser::spelled`]: markers are recognised by their spelling, because nothing else tells them apart).
//!
//! # Faults of the output
//!
//! No markup ever reaches the answer or arguments, and the arguments of a call that is reported complete are a JSON
//! object. Each recovery is an [`Event::Warning`].
//!
//! | fault | what it becomes |
//! | --- | --- |
//! | `</think>` without reasoning, or twice | left out |
//! | calls inside reasoning | the reasoning ends there |
//! | a call outside a block | a call |
//! | a block or call while no tools are offered | left out |
//! | a second block | further calls |
//! | text after a block, or after a call outside a block | answer |
//! | a tag without its `<` | a tag |
//! | a tag without its `>` in the line, or of another name | left out, up to there |
//! | text between calls, or between the parameters of a call | left out |
//! | a call of an unknown tool | a call: its caller can say that there is no such tool |
//! | a parameter that is not closed by its own tag | ends at the next tag, without the line end in front of that |
//! | the end of a parameter where none is open, or twice | left out |
//! | a call or block that is not closed | ends where the next begins |
//! | a parameter without `string="…"` | its JSON value if it is JSON, else a string |
//! | a `string="false"` value that is not JSON | a string |
//! | a string of JSON for a parameter that cannot be a string, by its schema | the JSON, if it is of the type |
//! | a JSON object in place of parameters, or a string of one | the arguments |
//! | other text in place of parameters | the call ends incomplete |
//! | the end of the output inside a call | the call ends incomplete |
//! | other special tokens in text | left out, but for grounding tokens, which stay as spelled |
//! | spellings of them in text without token borders | the same, but text in a value and in a JSON answer |
//!
//! Values that are JSON are held until they are complete: whether one is JSON shows only at its end, and what was passed
//! on could no longer become a string.
//!
//! A warning about a tag names the place where the tag's special token stands, one about text where the text begins.

mod arguments;
mod call;
mod decoder;
mod json_extent;
mod machine;
mod markup;
mod parser;
mod plan;
mod spelling;
mod stop;
mod tags;
#[cfg(test)]
mod tests;

pub use decoder::Decoder;
pub(crate) use machine::Passed;
pub use parser::Parser;
pub use plan::{JsonTypes, Plan, Start};

/// Something that the model said or did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// A piece of reasoning.
    Reasoning {
        /// The text, never empty.
        text: &'a str,
        /// Where it begins in the output's text, in bytes.
        at: u64,
    },
    /// A piece of the answer.
    Content {
        /// The text, never empty.
        text: &'a str,
        /// Where it begins in the output's text, in bytes.
        at: u64,
    },
    /// A call begins.
    CallStart {
        /// The call's number in this output, from 0.
        index: usize,
        /// The tool's name.
        name: &'a str,
    },
    /// A piece of the arguments' JSON text.
    CallArguments {
        /// The call's number.
        index: usize,
        /// The text, never empty.
        json: &'a str,
    },
    /// A call ends.
    CallEnd {
        /// The call's number.
        index: usize,
        /// Whether the arguments are complete: a JSON object.
        complete: bool,
    },
    /// Something was mended or left out.
    Warning(OutputWarning),
    /// The output ends. Always the last event, exactly once.
    Stop {
        /// Why.
        reason: StopReason,
        /// The stop sequence that ended it.
        sequence: Option<&'a str>,
    },
}

/// Why an output ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StopReason {
    /// The model had nothing more to say.
    End,
    /// The model calls tools.
    ToolCalls,
    /// The output reached its limit, or ended inside a call.
    Length,
    /// A stop sequence occurred.
    StopSequence,
    /// The engine withheld the rest.
    ContentFilter,
}

/// Why an engine stopped generating.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Finish {
    /// The model ended its turn.
    Stop,
    /// The limit on tokens was reached.
    Length,
    /// The engine withholds the rest.
    ContentFilter,
    /// The engine does not say.
    Unknown,
}

/// Declares an enum of kinds with a name for each in snake case, for logs and JSON.
macro_rules! named_kinds {
    ($(#[$about:meta])* pub enum $kinds:ident { $($(#[$doc:meta])* $name:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $kinds { $($(#[$doc])* $name,)* }

        impl $kinds {
            /// The kind's name for logs and JSON, in snake case.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}
pub(crate) use named_kinds;

named_kinds! {
    /// What was wrong with an output.
    pub enum OutputWarningKind {
        /// An end of reasoning where there was none to end.
        ExtraThinkEnd = "extra_think_end",
        /// Calls inside reasoning, which was not ended.
        UnendedReasoning = "unended_reasoning",
        /// A special token in text, which was left out.
        StraySpecial = "stray_special",
        /// Markup outside its place, which was left out.
        StrayMarkup = "stray_markup",
        /// A tag that is not one of the markup's.
        MalformedTag = "malformed_tag",
        /// A call outside a block.
        MissingBlock = "missing_block",
        /// A call although no tools are offered.
        CallWithoutTools = "call_without_tools",
        /// A call of a tool that is not offered.
        UnknownTool = "unknown_tool",
        /// A further block of calls.
        SecondBlock = "second_block",
        /// Text behind a block of calls.
        TextAfterCalls = "text_after_calls",
        /// Text between calls or parameters, which was left out.
        TextInMarkup = "text_in_markup",
        /// A parameter, call or block that was not closed.
        MissingClose = "missing_close",
        /// A parameter that does not say whether it is a string.
        UntypedParameter = "untyped_parameter",
        /// A value that should be JSON and is not: it is a string.
        InvalidJsonValue = "invalid_json_value",
        /// A string that holds the JSON that its parameter wants: it is that JSON.
        DoubleEncoded = "double_encoded",
        /// A JSON object in place of parameters.
        JsonBody = "json_body",
        /// A call whose arguments could not be read.
        UnreadableCall = "unreadable_call",
        /// The output ended inside a call.
        CutCall = "cut_call",
        /// A value or tag beyond the size that is held.
        TooLarge = "too_large",
        /// Text around the JSON of a JSON answer, which was left out.
        TextAroundJson = "text_around_json",
        /// The JSON of a JSON answer is not complete.
        IncompleteJson = "incomplete_json",
    }
}

/// Something that was mended or left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputWarning {
    /// What it was.
    pub kind: OutputWarningKind,
    /// Where, in bytes of the output's text.
    pub at: u64,
}
