//! Errors as JavaScript sees them.

#[cfg(feature = "masks")]
use deepseek_codec::constraint::ConstraintError;
use deepseek_codec::json::Json;
use deepseek_codec::protocol::{Api, Dialect, RequestError};
use js_sys::{Error, Reflect};
use wasm_bindgen::JsValue;

use crate::convert::to_js;

/// An `Error` with `kind`, `path`, `status` and `body`.
pub struct Failure {
    kind: &'static str,
    path: String,
    message: String,
    status: u16,
    body: Json,
}

impl Failure {
    pub(crate) fn new(kind: &'static str, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind, path: path.into(), message: message.into(), status: 400, body: Json::Null }
    }

    /// An option or argument that cannot be.
    pub(crate) fn option(path: impl Into<String>, message: String) -> Self {
        Self::new("option", path, message)
    }

    pub(crate) fn request(error: &RequestError, api: Api, dialect: Dialect) -> Self {
        Self {
            kind: error.kind().as_str(),
            path: error.path().to_owned(),
            message: error.message().to_owned(),
            status: error.status(),
            body: error.body(api, dialect),
        }
    }
}

#[cfg(feature = "masks")]
impl From<ConstraintError> for Failure {
    fn from(error: ConstraintError) -> Self {
        let kind = match &error {
            _ if error.is_unsupported() => "unsupported",
            ConstraintError::Schema { .. } => "schema",
            _ => "regex",
        };
        let path = match &error {
            ConstraintError::Schema { error, .. } => error.pointer.clone(),
            _ => String::new(),
        };
        Self::new(kind, path, error.to_string())
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        let error = Error::new(&failure.message);
        error.set_name("CodecError");
        let members = [
            ("kind", failure.kind.into()),
            ("path", failure.path.as_str().into()),
            ("status", failure.status.into()),
            ("body", to_js(&failure.body)),
        ];
        for (name, value) in members {
            // A new error takes members.
            let _ = Reflect::set(&error, &name.into(), &value);
        }
        error.into()
    }
}
