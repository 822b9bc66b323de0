//! What was accepted or ignored, for the caller to log or show.

use crate::output::named_kinds;

named_kinds! {
    /// What a warning is about.
    pub enum WarningKind {
        /// Half a surrogate pair in a `\u` escape became U+FFFD.
        LoneSurrogate = "lone_surrogate",
        /// A developer message counts as a system message.
        DeveloperRole = "developer_role",
        /// A message of an unknown role was dropped.
        UnknownRole = "unknown_role",
        /// Null or missing content counts as empty.
        NullContent = "null_content",
        /// An empty list counts as no list.
        EmptyList = "empty_list",
        /// A refusal counts as the assistant's text.
        Refusal = "refusal",
        /// A file part has its fields in an object of their own.
        NestedFile = "nested_file",
        /// A block of an unknown type was replaced by a note or dropped.
        UnknownBlock = "unknown_block",
        /// A block that only the vendor can use was dropped.
        DroppedBlock = "dropped_block",
        /// An input item was dropped.
        DroppedItem = "dropped_item",
        /// A tool that runs at the vendor was dropped.
        DroppedTool = "dropped_tool",
        /// A choice of a tool that was dropped counts as no choice.
        DroppedToolChoice = "dropped_tool_choice",
        /// A custom tool became a function with one string parameter.
        CustomTool = "custom_tool",
        /// A tool without its `type` counts as a client tool.
        UntypedTool = "untyped_tool",
        /// A client tool with `type: custom` counts as one without.
        TypedClientTool = "typed_client_tool",
        /// Arguments that are not a string count as their JSON text.
        ObjectArguments = "object_arguments",
        /// A parameters schema that does not say `type: object` is taken as it is.
        UntypedParameters = "untyped_parameters",
        /// A strict schema uses what strict mode does not support; it is taken as it is.
        RelaxedStrict = "relaxed_strict",
        /// Strict and other tools, or strict tools and a response format, occur together.
        MixedStrict = "mixed_strict",
        /// A tool was declared again; the first declaration counts.
        RepeatedTool = "repeated_tool",
        /// A choice among allowed tools limits the calls, not the prompt.
        AllowedTools = "allowed_tools",
        /// A choice that says `any` counts as the protocol's usual word for it, or as the model's decision.
        AnyToolChoice = "any_tool_choice",
        /// Thinking, on by default only, was switched off for a forced tool choice.
        ThinkingSwitchedOff = "thinking_switched_off",
        /// An effort given as a number.
        NumericEffort = "numeric_effort",
        /// `max_completion_tokens` counts as `max_tokens`.
        MaxCompletionTokens = "max_completion_tokens",
        /// More than one answer is asked for.
        SeveralAnswers = "several_answers",
        /// A message between a call and its result was moved behind the result.
        MovedMessage = "moved_message",
        /// Blocks of one message were brought into order.
        MovedBlock = "moved_block",
        /// A system message's billing header was removed.
        BillingHeader = "billing_header",
        /// A tool result is marked as an error, which the prompt does not show.
        ToolError = "tool_error",
        /// A value was not understood and the default is used.
        UnknownValue = "unknown_value",
        /// A setting has no effect.
        Ignored = "ignored",
    }
}

/// Something that was accepted although it is odd, or ignored although it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// The place in the request, for example `messages[3].content[1]`.
    pub path: String,
    /// What happened, for people.
    pub message: String,
}

impl Warning {
    pub(super) fn new(kind: WarningKind, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind, path: path.into(), message: message.into() }
    }
}
