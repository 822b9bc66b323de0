//! Every refusal that the reference's conversion can state, as patterns: the generator must reach each.

/// A name and the fixed parts of the message, in order.
pub struct ErrorKind {
    pub name: &'static str,
    parts: &'static [&'static str],
}

impl ErrorKind {
    /// Whether `message` has all fixed parts in order, the first at its start.
    pub fn matches(&self, message: &str) -> bool {
        let mut rest = message;
        for (index, part) in self.parts.iter().enumerate() {
            match rest.find(part) {
                Some(0) => rest = &rest[part.len()..],
                Some(at) if index > 0 => rest = &rest[at + part.len()..],
                _ => return false,
            }
        }
        true
    }
}

macro_rules! kinds {
    ($($name:literal: $($part:literal)+,)*) => {
        /// All kinds. Where a message matches several, the first counts.
        pub const KINDS: &[ErrorKind] = &[$(ErrorKind { name: $name, parts: &[$($part),+] }),*];
    };
}

kinds! {
    "model name": "The supported API model names are ",
    "tool name empty": "Invalid 'tools[" ".name': empty string.",
    "tool name empty in input": "Invalid 'input[" ".name': empty string.",
    "tool name long": "Invalid 'tools[" ".name': string too long.",
    "tool name long in input": "Invalid 'input[" ".name': string too long.",
    "tool name pattern": "Invalid 'tools[" ".name': string does not match pattern.",
    "tool name pattern in input": "Invalid 'input[" ".name': string does not match pattern.",
    "tool names unique": "Tool names must be unique.",
    "named tool unknown": "Invalid value for 'tool_call': no function named '",
    "tool schema invalid": "Invalid schema for function '" "",
    "strict schema invalid": "Invalid tool parameters schema : ",
    "strict top level": "The top level of the function parameters schema must be an object.",
    "strict empty object": "An object with no properties is not allowed.",
    "strict required unknown": "Required property '",
    "strict required duplicate": "Duplicate required property '",
    "strict required incomplete": "Required properties must match all properties in the object",
    "strict additionalProperties": "additionalProperties should not be true",
    "format schema invalid": "Invalid json schema: ",
    "format top level": "The top level of the json schema must be an object.",
    "forced choice in thinking": "Thinking mode does not support this tool_choice",
    "mixed strict": "Cannot use strict tool with non-strict tool in the same request",
    "format with strict tools": "response_format should not be used with tools",
    "stop too many": "Stop string array too long: ",
    "stop empty in list": "Invalid 'stop[",
    "stop empty": "Invalid 'stop': empty string.",
    "n": "Invalid n value",
    "presence_penalty": "Invalid presence_penalty value",
    "frequency_penalty": "Invalid frequency_penalty value",
    "temperature": "Invalid temperature value",
    "top_p": "Invalid top_p value",
    "top_logprobs without logprobs": "Invalid top_logprobs and logprobs value",
    "top_logprobs": "Invalid top_logprobs value",
    "max_tokens": "Invalid max_tokens value",
    "seed": "Invalid seed value",
    "chat no messages": "Empty input messages",
    "chat assistant empty": "Invalid assistant message: content or tool_calls must be set",
    "chat assistant image": "Image in assistant message is not supported",
    "chat no calls": "Invalid 'messages[" ".tool_calls': empty array.",
    "chat duplicate id": "Duplicate value for 'tool_call_id' of ",
    "chat results missing": "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient",
    "chat result of other call": "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id', The following",
    "chat result without call": "Messages with role 'tool' must be a response",
    "chat prefix place": "Invalid completion message: prefix set true",
    "chat json instruction": "Prompt must contain the word 'json'",
    "chat json with prefix": "response_format json_object should not be used with prefix",
    "chat tools with prefix": "Function call should not be used with prefix",
    "chat stream options": "stream_options should be set along with stream = true",
    "chat url long": ".messages[" "].image_url.url[" "external link length ",
    "chat file none": ".messages[" "]: file must have a file_id or file_data",
    "chat file both": ".messages[" "]: file cannot have both file_id and file_data",
    "chat file name": ".messages[" "]: file cannot have filename when file_id is present",
    "chat file id": ".messages[" "]: file_id is not supported.",
    "chat file data": ".messages[" "]: file_data is not a valid base64 data url",
    "chat file type": ".messages[" "]: You have uploaded an unsupported file.",
    "chat url format": ".messages[" "]: Unsupported image_url format",
    "chat image type": ".messages[" "]: You have uploaded an unsupported image.",
    "chat image base64": ".messages[" "]: Invalid base64 data",
    "responses no input": "Either input or instructions must be provided",
    "responses no items": "Input items array must not be empty",
    "responses json instruction": "Response input messages must contain the word 'json'",
    "responses custom in namespace": "Currently custom tools are not allowed inside a namespace.",
    "responses duplicate in namespace": "Tool names within a namespace must be unique.",
    "responses custom tool": "Unsupported custom tool: '",
    "responses call id empty": "Invalid 'input[" "].call_id': empty string.",
    "responses duplicate call id": "Duplicate 'call_id': ",
    "responses duplicate output": "Duplicate tool output for call_id: ",
    "responses output without call": "No tool call found for tool output with call_id ",
    "responses call without output": "No tool output found for tool call ",
    "responses assistant image": "input[" "]: Image in assistant message is unsupported",
    "responses image none": "input[" "]: input_image must have image_url or file_id",
    "responses image both": "input[" "]: input_image cannot have both image_url and file_id",
    "responses file id": "input[" "]: file_id is not supported.",
    "responses url long": "input[" "]: image_url external link length ",
    "responses url format": "input[" "]: Unsupported image_url format",
    "responses image type": "input[" "]: You have uploaded an unsupported image.",
    "responses image base64": "input[" "]: Invalid base64 data",
    "responses unknown discovered tool": "input[" "]: the enum variant",
    "messages none": "messages: at least one message is required",
    "messages all deferred": "tools: at least one tool must have defer_loading=false.",
    "messages server tool": "tools[" "]: server tools are not supported",
    "messages server block": "Unsupported content block: server tools are not supported",
    "messages empty content": "messages." ": all messages must have non-empty content",
    "messages calls open before message": "messages." ": `tool_use` ids were found without `tool_result` blocks immediately after: ",
    "messages calls open at end": "messages." ":`tool_use` ids were found without `tool_result` blocks immediately after: ",
    "messages call place": "messages." ": `tool_use` blocks can only be in `assistant` messages",
    "messages call id unique": "messages." ": `tool_use` ids must be unique",
    "messages result place": "messages." ": `tool_result` blocks can only be in `user` messages",
    "messages result repeated": "messages." ": each tool_use must have a single result.",
    "messages result unexpected": "unexpected `messages.",
    "messages addition place": "messages." ": `tool_addition` blocks can only be in `system` messages",
    "messages addition unknown": "messages." ": `tool_addition` references unknown tool '",
    "messages reference unknown": "messages." ": tool reference '",
    "messages thinking place": "messages." ".content: thinking blocks may only be in `assistant` messages",
    "messages search place": "messages." ": `web_search_tool_result` blocks can only be in `assistant` messages",
    "messages assistant image": "Image in assistant message is unsupported",
    "messages url": "messages." ": invalid url: ",
    "messages url long": "messages." ": external link length ",
    "messages base64": "messages." ": base64 decode error",
    "messages file id": "messages." ": file_id is not supported.",
}

/// The kind of a message; `None` for one that the list does not know.
pub fn kind_of(message: &str) -> Option<&'static str> {
    KINDS.iter().find(|kind| kind.matches(message)).map(|kind| kind.name)
}
