//! The official conversion, called as a service would call it.

use std::path::Path;

use deepseek_codec::protocol::{Api, Sampling};
use deepseek_recipe::anthropic::MessagesRequest;
use deepseek_recipe::openai::{ChatCompletionRequest, ResponsesRequest};
use deepseek_recipe::request::{ConversationRequest, ConversionOptions, ModelVersion, ProtocolRequest};
use deepseek_recipe_core::multimodal::ImageSource;
use deepseek_recipe_encoding::v4::{dsv4::DeepseekV4Encoding, dsv41::DeepseekV41Encoding};
use deepseek_recipe_encoding::{PromptEncoding, PromptTokenizer, RenderedPrompt, TokenizerEncoder};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokenizers::Tokenizer;

use crate::outcome::{Accepted, Outcome, Refusal};

/// Ids that V4.1 names anew, spelled as the reference spells them.
const V41_SYSTEM: u64 = 128_799;
const V41_IMAGE: u64 = 129_264;

/// The reference with the tokenizers of both models; by default without, so that it renders only.
#[derive(Default)]
pub struct Reference {
    v4: Option<PromptTokenizer>,
    v41: Option<PromptTokenizer>,
}

impl Reference {
    /// A reference that tokenizes with the V4 tokenizer.json at `path`. V4.1 has the same base vocabulary and other
    /// names for a few added tokens.
    pub fn load(path: &Path) -> Result<Self, String> {
        // The regions of a prompt are short: threads would cost more than they save.
        tokenizers::utils::parallelism::set_parallelism(false);
        let explain = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| explain(&error))?;
        let mut json: Value = serde_json::from_str(&text).map_err(|error| explain(&error))?;
        let prepare = |json: &Value| {
            let tokenizer: Tokenizer = json.to_string().parse().map_err(|error| explain(&error))?;
            Ok::<_, String>(Some(PromptTokenizer::new(&tokenizer)))
        };
        let v4 = prepare(&json)?;
        for token in json["added_tokens"].as_array_mut().into_iter().flatten() {
            match token["id"].as_u64() {
                Some(V41_SYSTEM) => token["content"] = "<｜System｜>".into(),
                Some(V41_IMAGE) => token["content"] = "<｜image｜>".into(),
                _ => {}
            }
        }
        Ok(Self { v4, v41: prepare(&json)? })
    }

    pub fn has_tokenizers(&self) -> bool {
        self.v4.is_some()
    }

    /// What the reference makes of a body. `tokenize` asks for ids too.
    pub fn run(&self, api: Api, body: &str, tokenize: bool) -> Outcome {
        // The body becomes a JSON value first, as in a service that looks at it before it picks the request type:
        // of repeated keys the last counts.
        let Ok(value) = serde_json::from_str::<Value>(body) else {
            return unreadable();
        };
        match api {
            Api::Chat => self.convert::<ChatCompletionRequest>(value, tokenize),
            Api::Responses => self.convert::<ResponsesRequest>(value, tokenize),
            Api::Messages => self.convert::<MessagesRequest>(value, tokenize),
        }
    }

    /// The ids of a Messages body and nothing else, as fast as the reference gives them.
    pub fn messages_ids(&self, body: &[u8]) -> Vec<u32> {
        let request: MessagesRequest = serde_json::from_slice(body).expect("the body is a request");
        let request = request.convert(options()).expect("the request is one that the reference takes");
        let (rendered, tokenizer) = self.render(&request);
        let tokenizer = tokenizer.as_ref().expect("the reference has tokenizers");
        tokenizer.encode_ids(&rendered.prompt, &rendered.special_ranges).expect("the prompt encodes")
    }

    /// A request's prompt, and the tokenizer of its model.
    fn render(&self, request: &ConversationRequest) -> (RenderedPrompt, &Option<PromptTokenizer>) {
        match request.model_version {
            ModelVersion::DeepseekV4Pro => {
                (DeepseekV4Encoding::new().render_conversation(&request.conversation), &self.v4)
            }
            _ => (DeepseekV41Encoding::new().render_conversation(&request.conversation), &self.v41),
        }
    }

    fn convert<R: ProtocolRequest + DeserializeOwned>(&self, value: Value, tokenize: bool) -> Outcome {
        let Ok(request) = serde_json::from_value::<R>(value) else {
            return unreadable();
        };
        match request.convert(options()) {
            Ok(converted) => Outcome::Accepted(Box::new(self.accepted(&converted, tokenize))),
            Err(error) => {
                let status = error.status_code();
                Outcome::Refused(Refusal { status, message: Some(error.into_error_response().error.message) })
            }
        }
    }

    fn accepted(&self, request: &ConversationRequest, tokenize: bool) -> Accepted {
        let model = match request.model_version {
            ModelVersion::DeepseekV4Pro => "DeepSeek-V4-Pro",
            _ => "DeepSeek-V4.1-Flash",
        };
        let (rendered, tokenizer) = self.render(request);
        let RenderedPrompt { prompt, special_ranges, image_sources } = rendered;
        let ids = match tokenizer {
            Some(tokenizer) if tokenize => tokenizer.encode_ids(&prompt, &special_ranges).ok(),
            _ => None,
        };
        let special = special_ranges
            .iter()
            .map(|range| (range.start, range.end, prompt[range.clone()].to_owned()))
            .collect();
        let inference = &request.inference_options;
        Accepted {
            model: model.to_owned(),
            special,
            prompt,
            images: image_sources.iter().map(image).collect(),
            thinking: request.conversation.thinking_mode,
            stream: request.stream,
            include_usage: request.response_options.include_usage,
            sampling: Sampling {
                max_tokens: inference.max_tokens,
                temperature: inference.temperature.unwrap_or(f32::NAN),
                top_p: inference.top_p.unwrap_or(f32::NAN),
                logprobs: inference.logprobs,
                top_logprobs: inference.top_logprobs,
                seed: inference.seed,
                // More are refused.
                n: 1,
            },
            constraint: inference
                .output_constraint
                .as_ref()
                .map(|constraint| (constraint.kind().to_owned(), constraint.schema())),
            stops: request.parsing_options.stop_sequences.clone(),
            ids,
        }
    }
}

fn unreadable() -> Outcome {
    Outcome::Refused(Refusal { status: 400, message: None })
}

/// The model names that both sides know.
pub fn options() -> ConversionOptions {
    ConversionOptions::new()
        .with_model_alias("deepseek-v4-pro", ModelVersion::DeepseekV4Pro)
        .with_model_alias("deepseek-v4.1-flash", ModelVersion::DeepseekV41Flash)
        .with_model_alias("deepseek-flash", ModelVersion::DeepseekV41Flash)
}

fn image(source: &ImageSource) -> (String, String) {
    let detail = format!("{:?}", source.detail()).to_lowercase();
    match source {
        ImageSource::DataUrl { data_url, .. } => (data_url.clone(), detail),
        ImageSource::Url { url, .. } => (url.clone(), detail),
        ImageSource::Bytes { .. } => ("bytes".to_owned(), detail),
    }
}
