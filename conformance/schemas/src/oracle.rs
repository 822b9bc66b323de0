//! What the official crates say.

use std::panic::{AssertUnwindSafe, catch_unwind};

use deepseek_recipe::openai::ChatCompletionRequest;
use deepseek_recipe::request::{ConversionOptions, ModelVersion, ProtocolRequest};
use serde_json::{Value, json};

/// The message of `jsonschema` for an invalid schema. `None` if it panics.
pub fn meta(schema: &Value) -> Option<Result<(), String>> {
    catch_unwind(AssertUnwindSafe(|| {
        jsonschema::options().offline().build(schema).map(|_| ()).map_err(|error| error.to_string())
    }))
    .ok()
}

/// The schema of a strict tool after conversion, or the message of the refusal.
pub fn strict_parameters(schema: &Value) -> Result<Value, String> {
    let tool = json!({"type": "function", "function": {"name": "f", "strict": true, "parameters": schema}});
    let converted = convert(json!({"tools": [tool]}))?;
    Ok(converted.conversation.tools[0].parameters.clone())
}

/// The schema of a strict response format after conversion, as text, or the message of the refusal.
pub fn strict_response(schema: &Value) -> Result<String, String> {
    let format =
        json!({"type": "json_schema", "json_schema": {"name": "f", "strict": true, "schema": schema}});
    let converted = convert(json!({"response_format": format}))?;
    Ok(converted
        .inference_options
        .output_constraint
        .as_ref()
        .map(|constraint| constraint.schema())
        .unwrap_or_default())
}

fn convert(mut request: Value) -> Result<deepseek_recipe::request::ConversationRequest, String> {
    request["model"] = "m".into();
    request["messages"] = json!([{"role": "user", "content": "json"}]);
    let request: ChatCompletionRequest =
        serde_json::from_value(request).map_err(|error| format!("not a request: {error}"))?;
    let options = ConversionOptions::new().with_model_alias("m", ModelVersion::DeepseekV4Pro);
    request.convert(options).map_err(|error| error.to_string())
}
