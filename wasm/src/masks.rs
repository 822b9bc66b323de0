//! Which tokens may come next.

use std::sync::Arc;

use deepseek_codec::constraint::{self, LeftOut};
use deepseek_codec::grammar::{self, Compiled, Layout, Order, Whitespace};
use deepseek_codec::json::Json;
use deepseek_codec::model::Profile;
use deepseek_codec::output::{Plan, Start};
use deepseek_codec::token::TokenId;
use js_sys::Uint32Array;
use wasm_bindgen::prelude::*;

use crate::convert::{json_bytes, to_js};
use crate::failure::Failure;
use crate::options::{Fields, profile};
use crate::request::Request;
use crate::tokenizer::numbers;
use crate::vocabulary;

/// A model's vocabulary, arranged for masks. Make one and keep it.
#[wasm_bindgen]
pub struct Compiler {
    compiler: grammar::Compiler,
    profile: &'static Profile,
}

#[wasm_bindgen]
impl Compiler {
    /// Arranges the vocabulary of the model called `model`.
    #[wasm_bindgen(constructor)]
    pub fn new(model: &str) -> Result<Self, Failure> {
        let profile = profile(model)?;
        let compiler = grammar::Compiler::new(&vocabulary::tokenizer(profile)?);
        Ok(Self { compiler, profile })
    }

    /// JSON that follows a schema: an object, a boolean, or JSON text.
    pub fn schema(&self, schema: &JsValue, layout: &JsValue) -> Result<Constraint, Failure> {
        let schema = Json::parse(&json_bytes(schema)?)
            .map_err(|error| Failure::new("schema", error.path(), format!("not JSON: {error}")))?;
        self.compile(&constraint::Constraint::Json { schema: Some(schema) }, Start::Content, layout)
    }

    /// Any JSON object.
    pub fn json(&self, layout: &JsValue) -> Result<Constraint, Failure> {
        self.compile(&constraint::Constraint::Json { schema: None }, Start::Content, layout)
    }

    /// Text that matches a regular expression as a whole.
    pub fn regex(&self, pattern: &str) -> Result<Constraint, Failure> {
        let constraint = constraint::Constraint::Regex(pattern.to_owned());
        self.compile(&constraint, Start::Content, &JsValue::UNDEFINED)
    }

    /// What a request asks of its answer: its tools or its response format. Nothing if any text will do.
    pub fn request(&self, request: &Request, layout: &JsValue) -> Result<Option<Constraint>, Failure> {
        let lowered = &request.lowered;
        if lowered.profile != self.profile {
            let message = format!("the request is for {}", lowered.profile.name());
            return Err(Failure::new("model", "", message));
        }
        let plan = Plan::of(&lowered.conversation, &lowered.stops);
        let constraint = constraint::Constraint::of(&lowered.conversation);
        constraint.map(|constraint| self.compile(&constraint, plan.start, layout)).transpose()
    }

    /// How many 32-bit words a mask has.
    #[wasm_bindgen(getter, js_name = maskWords)]
    #[must_use]
    pub fn mask_words(&self) -> usize {
        self.compiler.mask_words()
    }
}

impl Compiler {
    fn compile(
        &self,
        constraint: &constraint::Constraint,
        start: Start,
        layout: &JsValue,
    ) -> Result<Constraint, Failure> {
        let fields = Fields::read(layout, &["whitespace", "order", "relax"])?;
        let layout = read_layout(&fields)?;
        if fields.flag("relax")? == Some(true) {
            let (compiled, left_out) =
                constraint.compile_relaxed(start, self.profile, &self.compiler, layout)?;
            return Ok(Constraint { compiled, left_out });
        }
        let compiled = constraint.compile(start, self.profile, &self.compiler, layout)?;
        Ok(Constraint { compiled, left_out: Vec::new() })
    }
}

fn read_layout(fields: &Fields) -> Result<Layout, Failure> {
    let mut layout = Layout::default();
    if let Some(order) = fields.choice("order", &[("any", Order::Any), ("schema", Order::Schema)])? {
        layout.order = order;
    }
    layout.whitespace = match fields.get("whitespace") {
        None => layout.whitespace,
        Some(Json::Number(_)) => {
            let most = fields.number("whitespace")?.and_then(|most| u16::try_from(most).ok());
            Whitespace::AtMost(most.unwrap_or(u16::MAX))
        }
        Some(_) => {
            let names =
                [("any", Whitespace::Any), ("compact", Whitespace::Compact), ("spaced", Whitespace::Spaced)];
            fields.choice("whitespace", &names)?.unwrap_or_default()
        }
    };
    Ok(layout)
}

/// What an answer has to look like, compiled. Any number of matchers share it.
#[wasm_bindgen]
pub struct Constraint {
    compiled: Arc<Compiled>,
    left_out: Vec<LeftOut>,
}

#[wasm_bindgen]
impl Constraint {
    /// A matcher at the beginning of the answer.
    #[must_use]
    pub fn matcher(&self) -> Matcher {
        Matcher { mask: vec![0; self.compiled.mask_words()], matcher: self.compiled.matcher() }
    }

    /// How many 32-bit words a mask has.
    #[wasm_bindgen(getter, js_name = maskWords)]
    #[must_use]
    pub fn mask_words(&self) -> usize {
        self.compiled.mask_words()
    }

    /// The tokens that end an answer.
    #[must_use]
    pub fn stops(&self) -> Vec<u32> {
        numbers(self.compiled.stops().to_vec())
    }
}

#[wasm_bindgen]
impl Constraint {
    /// What of the schemas is not enforced; nothing unless it was compiled with `relax`.
    #[wasm_bindgen(js_name = leftOut)]
    #[must_use]
    pub fn left_out(&self) -> JsValue {
        let left_out = self.left_out.iter().map(|left| {
            Json::from([
                ("tool", left.tool.as_deref().into()),
                ("path", left.demand.pointer.as_str().into()),
                ("keyword", left.demand.keyword.as_str().into()),
                ("reason", left.demand.reason.as_str().into()),
            ])
        });
        to_js(&Json::Array(left_out.collect()))
    }
}

/// The state of one answer.
#[wasm_bindgen]
pub struct Matcher {
    matcher: grammar::Matcher,
    /// Where masks are made before JavaScript gets them.
    mask: Vec<u32>,
}

#[wasm_bindgen]
impl Matcher {
    /// Writes which tokens may come next: bit `id % 32` of word `id / 32`.
    #[wasm_bindgen(js_name = fillMask)]
    pub fn fill_mask(&mut self, mask: &Uint32Array) -> Result<(), Failure> {
        if mask.length() as usize != self.mask.len() {
            let message = format!("the mask has {} words instead of {}", mask.length(), self.mask.len());
            return Err(Failure::option("mask", message));
        }
        self.matcher.fill_mask(&mut self.mask);
        mask.copy_from(&self.mask);
        Ok(())
    }

    /// Takes the next token.
    pub fn accept(&mut self, id: u32) -> Result<(), Failure> {
        let accepted = self.matcher.accept(TokenId(id));
        accepted.map_err(|rejected| Failure::new("token", "", rejected.to_string()))
    }

    /// Takes tokens as long as they are allowed; returns how many.
    #[wasm_bindgen(js_name = tryAccept)]
    pub fn try_accept(&mut self, ids: &[u32]) -> usize {
        let ids: Vec<TokenId> = ids.iter().copied().map(TokenId).collect();
        self.matcher.try_accept(&ids)
    }

    /// Takes back the last tokens.
    pub fn rollback(&mut self, tokens: usize) {
        self.matcher.rollback(tokens);
    }

    /// The tokens that must come next.
    pub fn forced(&mut self) -> Vec<u32> {
        let mut ids = Vec::new();
        self.matcher.forced(&mut ids);
        numbers(ids)
    }

    /// Whether the answer may end here.
    #[wasm_bindgen(js_name = isComplete)]
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.matcher.is_complete()
    }

    /// Where the answer is, in words for people.
    #[must_use]
    pub fn places(&self) -> JsValue {
        to_js(&Json::Array(self.matcher.places().into_iter().map(Json::from).collect()))
    }

    /// A matcher in the same state that goes its own way.
    #[wasm_bindgen(js_name = clone)]
    #[must_use]
    pub fn copy(&self) -> Self {
        Self { matcher: self.matcher.clone(), mask: self.mask.clone() }
    }
}
