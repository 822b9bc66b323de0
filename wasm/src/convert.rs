//! Values between JavaScript and the library.

use deepseek_codec::json::Json;
use js_sys::{JSON, JsString, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

use crate::failure::Failure;

/// JSON as a JavaScript value.
pub(crate) fn to_js(json: &Json) -> JsValue {
    parse_text(&json.to_string())
}

/// The JavaScript value of a JSON text that the library wrote.
pub(crate) fn parse_text(text: &str) -> JsValue {
    JSON::parse(text).unwrap_or(JsValue::UNDEFINED)
}

/// The JSON text of a value: a string or bytes are taken for the text itself.
pub(crate) fn json_bytes(value: &JsValue) -> Result<Vec<u8>, Failure> {
    if let Some(text) = value.as_string() {
        return Ok(text.into_bytes());
    }
    if let Some(bytes) = value.dyn_ref::<Uint8Array>() {
        return Ok(bytes.to_vec());
    }
    Ok(stringified(value)?.into_bytes())
}

/// The value as the library's JSON; `undefined` and `null` are `null`.
pub(crate) fn from_js(value: &JsValue) -> Result<Json, Failure> {
    if value.is_undefined() || value.is_null() {
        return Ok(Json::Null);
    }
    let text = stringified(value)?;
    Json::parse(text.as_bytes()).map_err(|error| Failure::option("", error.to_string()))
}

fn stringified(value: &JsValue) -> Result<String, Failure> {
    let text = JSON::stringify(value).ok().and_then(|text| text.dyn_ref::<JsString>().map(String::from));
    text.ok_or_else(|| Failure::option("", "the value cannot be written as JSON".to_owned()))
}
