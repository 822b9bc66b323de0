//! Requests to prompts and ids.

use deepseek_codec::inspect::{Difference, Explanation, View, convert, placed_ids, report, settings};
use deepseek_codec::json::{Json, LoneSurrogates};
use deepseek_codec::prompt::Prompt;
use deepseek_codec::protocol::{self, Api, Dialect, Lowered, lower};
use deepseek_codec::tokenizer::Tokenizer;
use wasm_bindgen::prelude::*;

use crate::convert::{json_bytes, to_js};
use crate::failure::Failure;
use crate::options::{DIALECTS, Fields, LOWERING, lowering, profile};
use crate::stream::Stream;
use crate::tokenizer::numbers;
use crate::vocabulary;

/// A request that was accepted.
#[wasm_bindgen]
pub struct Request {
    pub(crate) lowered: Lowered,
    prompt: Prompt,
    dialect: Dialect,
}

#[wasm_bindgen]
impl Request {
    /// Reads and lowers a request: JSON text, its bytes, or an object.
    #[wasm_bindgen(constructor)]
    pub fn new(body: &JsValue, options: &JsValue) -> Result<Self, Failure> {
        let fields = Fields::read(options, LOWERING)?;
        let mut options = lowering(&fields)?;
        let dialect = fields.choice("dialect", DIALECTS)?.unwrap_or_default();
        let body = json_bytes(body)?;
        let named = Api::ALL.map(|api| (api.as_str(), api));
        let api = match fields.choice("protocol", &named)? {
            Some(api) => api,
            None => detect(&body),
        };
        if let Some(name) = fields.text("model")? {
            serve_by(&mut options, &body, name)?;
        }
        let lowered = lower(api, &body, &options).map_err(|error| Failure::request(&error, api, dialect))?;
        let prompt = lowered.profile.render(&lowered.conversation);
        Ok(Self { lowered, prompt, dialect })
    }

    /// The format: `chat`, `responses` or `messages`.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn protocol(&self) -> String {
        self.lowered.api.as_str().to_owned()
    }

    /// The official name of the model that serves the request.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn model(&self) -> String {
        self.lowered.profile.name().to_owned()
    }

    /// The prompt, special tokens spelled.
    #[must_use]
    pub fn prompt(&self) -> String {
        self.prompt.to_string()
    }

    /// The ids of the prompt.
    pub fn ids(&self) -> Result<Vec<u32>, Failure> {
        Ok(numbers(self.tokenizer()?.encode(&self.prompt)))
    }

    /// The number of ids.
    pub fn count(&self) -> Result<usize, Failure> {
        Ok(self.tokenizer()?.count(&self.prompt))
    }

    /// Whether there are more than `limit` ids.
    pub fn exceeds(&self, limit: usize) -> Result<bool, Failure> {
        Ok(self.tokenizer()?.exceeds(&self.prompt, limit))
    }

    /// Where each id begins in the UTF-8 of the prompt, in bytes.
    pub fn starts(&self) -> Result<Vec<u32>, Failure> {
        let mut spelled = 0;
        let mut specials = self.prompt.specials().enumerate().peekable();
        let starts = placed_ids(&self.tokenizer()?, &self.prompt).into_iter().map(|(_, at)| {
            while let Some((_, (_, special))) = specials.next_if(|(index, _)| *index < at.specials) {
                spelled += special.spelling().len();
            }
            u32::try_from(at.text + spelled).unwrap_or(u32::MAX)
        });
        Ok(starts.collect())
    }

    /// How tokens are chosen, what ends the answer, and the warnings.
    #[must_use]
    pub fn settings(&self) -> JsValue {
        to_js(&settings(&self.lowered))
    }

    /// All about the request: the prompt, its special tokens, ids and settings.
    pub fn report(&self) -> Result<JsValue, Failure> {
        let tokenizer = self.tokenizer()?;
        Ok(to_js(&report(self.view(&tokenizer))))
    }

    /// What each part of the prompt costs.
    pub fn explain(&self) -> Result<JsValue, Failure> {
        let tokenizer = self.tokenizer()?;
        Ok(to_js(&Explanation::of(self.view(&tokenizer)).json()))
    }

    /// Where this prompt and another one part, and why.
    pub fn diff(&self, other: &Self) -> Result<JsValue, Failure> {
        let (own, others) = (self.tokenizer()?, other.tokenizer()?);
        Ok(to_js(&Difference::between(self.view(&own), other.view(&others)).json()))
    }

    /// The request's body in the format `protocol`, where that can say it.
    pub fn convert(&self, protocol: &str) -> Result<JsValue, Failure> {
        let api = Api::by_name(protocol)
            .ok_or_else(|| Failure::option("protocol", format!("unknown protocol {protocol}")))?;
        Ok(convert(&self.lowered, api).map_or(JsValue::UNDEFINED, |body| to_js(&body)))
    }

    /// How many tokens may be generated at most in a context of `context` tokens.
    #[wasm_bindgen(js_name = maxTokens)]
    pub fn max_tokens(&self, context: u32) -> Result<u32, Failure> {
        let prompt = u32::try_from(self.count()?).unwrap_or(u32::MAX);
        let api = self.lowered.api;
        self.lowered.max_tokens(prompt, context).map_err(|error| Failure::request(&error, api, self.dialect))
    }

    /// The stream that answers the request, with events as objects.
    pub fn stream(&self, options: &JsValue) -> Result<Stream, Failure> {
        Stream::new(self, options, false)
    }

    /// The stream that answers the request, with events as the text of server-sent events.
    pub fn sse(&self, options: &JsValue) -> Result<Stream, Failure> {
        Stream::new(self, options, true)
    }
}

impl Request {
    pub(crate) fn tokenizer(&self) -> Result<Tokenizer, Failure> {
        vocabulary::tokenizer(self.lowered.profile)
    }

    pub(crate) const fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn view<'v>(&'v self, tokenizer: &'v Tokenizer) -> View<'v> {
        View { lowered: &self.lowered, prompt: &self.prompt, tokenizer }
    }
}

fn parsed(body: &[u8]) -> Option<Json> {
    Json::parse_with(body, LoneSurrogates::Replace).ok().map(|(json, _)| json)
}

/// The format that the body's fields tell. What tells nothing is read as Chat Completions.
fn detect(body: &[u8]) -> Api {
    parsed(body).as_ref().and_then(Api::detect).unwrap_or(Api::Chat)
}

/// Serves whatever model the body names by the one called `name`.
fn serve_by(options: &mut protocol::Options, body: &[u8], name: &str) -> Result<(), Failure> {
    let profile = profile(name)?;
    if let Some(named) = parsed(body).as_ref().and_then(|json| json.get("model")?.as_str()) {
        options.models.insert(named, profile);
    }
    Ok(())
}
