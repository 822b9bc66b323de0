//! Options, read from JavaScript objects. A member that is not known is an error, so that a misspelt one does not
//! go unnoticed.

use deepseek_codec::json::{Json, Number, Object};
use deepseek_codec::model::Profile;
use deepseek_codec::protocol::{Dialect, MissingReasoning, Options, Policy};
use wasm_bindgen::JsValue;

use crate::convert::from_js;
use crate::failure::Failure;

/// The members of an options object.
pub(crate) struct Fields(Object);

impl Fields {
    pub(crate) fn read(value: &JsValue, known: &[&str]) -> Result<Self, Failure> {
        let fields = match from_js(value)? {
            Json::Null => Object::new(),
            Json::Object(fields) => fields,
            _ => return Err(Failure::option("", "options are an object".to_owned())),
        };
        if let Some((key, _)) = fields.iter().find(|(key, _)| !known.contains(key)) {
            let message = format!("unknown option {key}; there are {}", known.join(", "));
            return Err(Failure::option(key, message));
        }
        Ok(Self(fields))
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        self.0.get(key).filter(|value| **value != Json::Null)
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<&str>, Failure> {
        self.typed(key, "a string", Json::as_str)
    }

    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, Failure> {
        self.typed(key, "true or false", |json| match json {
            Json::Bool(flag) => Some(*flag),
            _ => None,
        })
    }

    pub(crate) fn number(&self, key: &str) -> Result<Option<u64>, Failure> {
        self.typed(key, "a whole number", |json| match json {
            Json::Number(number) => whole(*number),
            _ => None,
        })
    }

    /// One of several names.
    pub(crate) fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<Option<T>, Failure> {
        let Some(name) = self.text(key)? else { return Ok(None) };
        let found = choices.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        found.map(Some).ok_or_else(|| {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            Failure::option(key, format!("{key} is {name}; there are {}", names.join(", ")))
        })
    }

    fn typed<'f, T>(
        &'f self,
        key: &str,
        wanted: &str,
        read: impl FnOnce(&'f Json) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let Some(value) = self.get(key) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| Failure::option(key, format!("{key} is not {wanted}")))
    }
}

/// JavaScript writes large whole numbers as it writes all numbers.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(number: Number) -> Option<u64> {
    let value = number.as_f64();
    number
        .as_u64()
        .or_else(|| (value >= 0.0 && value.fract() == 0.0 && value < 1.8e19).then_some(value as u64))
}

pub(crate) const DIALECTS: &[(&str, Dialect)] =
    &[("deepseek", Dialect::Deepseek), ("vendor", Dialect::Vendor)];

/// The members that say how a request is lowered.
pub(crate) const LOWERING: &[&str] = &[
    "protocol",
    "policy",
    "dialect",
    "model",
    "models",
    "defaultThinking",
    "missingReasoning",
    "markToolErrors",
    "maxTokensBound",
    "maxBodyBytes",
];

/// How a request is lowered, but for its protocol, its dialect and the one model that serves all.
pub(crate) fn lowering(fields: &Fields) -> Result<Options, Failure> {
    let mut options = Options::default();
    let policies = [("lenient", Policy::Lenient), ("strict", Policy::Strict)];
    if let Some(policy) = fields.choice("policy", &policies)? {
        options.policy = policy;
    }
    if let Some(on) = fields.flag("defaultThinking")? {
        options.default_thinking = on;
    }
    let reasoning = [("fill_empty", MissingReasoning::FillEmpty), ("refuse", MissingReasoning::Refuse)];
    if let Some(missing) = fields.choice("missingReasoning", &reasoning)? {
        options.missing_reasoning = missing;
    }
    if let Some(mark) = fields.flag("markToolErrors")? {
        options.mark_tool_errors = mark;
    }
    if let Some(most) = fields.number("maxTokensBound")? {
        options.max_tokens_bound = u32::try_from(most).unwrap_or(u32::MAX);
    }
    if let Some(most) = fields.number("maxBodyBytes")? {
        options.max_body_bytes = usize::try_from(most).unwrap_or(usize::MAX);
    }
    if let Some(models) = fields.get("models") {
        let names = models
            .as_object()
            .ok_or_else(|| Failure::option("models", "models is an object of names".to_owned()))?;
        for (name, served_by) in names.iter() {
            options.models.insert(name, profile(served_by.as_str().unwrap_or_default())?);
        }
    }
    Ok(options)
}

/// The model version called `name`.
pub(crate) fn profile(name: &str) -> Result<&'static Profile, Failure> {
    Profile::by_name(name).ok_or_else(|| Failure::new("model", "", format!("unknown model {name}")))
}
