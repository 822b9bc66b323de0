//! This project's side of the comparison.

use deepseek_codec::constraint::Constraint;
use deepseek_codec::conversation::{Image, ImageDetail, ImageSource};
use deepseek_codec::model::{PROFILES, Profile};
use deepseek_codec::protocol::{self, Api, Lowered, Options, Policy, Warning};
use deepseek_codec::tokenizer::Tokenizer;

use crate::outcome::{Accepted, Outcome, Refusal};

/// `deepseek-codec` under both policies, with the tokenizers of all profiles.
pub struct Subject {
    strict: Options,
    lenient: Options,
    tokenizers: Vec<(&'static Profile, Tokenizer)>,
}

impl Default for Subject {
    fn default() -> Self {
        Self {
            strict: Options::new(Policy::Strict),
            lenient: Options::new(Policy::Lenient),
            tokenizers: PROFILES.iter().map(|&profile| (profile, profile.tokenizer())).collect(),
        }
    }
}

impl Subject {
    /// The outcome under the strict policy.
    pub fn strict(&self, api: Api, body: &str, tokenize: bool) -> Outcome {
        self.run(api, body, &self.strict, tokenize).0
    }

    /// The outcome under the lenient policy, and the warnings.
    pub fn lenient(&self, api: Api, body: &str, tokenize: bool) -> (Outcome, Vec<Warning>) {
        self.run(api, body, &self.lenient, tokenize)
    }

    fn run(&self, api: Api, body: &str, options: &Options, tokenize: bool) -> (Outcome, Vec<Warning>) {
        match protocol::lower(api, body.as_bytes(), options) {
            Ok(lowered) => {
                let outcome = Outcome::Accepted(Box::new(self.accepted(&lowered, tokenize)));
                (outcome, lowered.warnings)
            }
            Err(error) => {
                let refusal = Refusal { status: error.status(), message: Some(error.message().to_owned()) };
                (Outcome::Refused(refusal), Vec::new())
            }
        }
    }

    fn accepted(&self, lowered: &Lowered, tokenize: bool) -> Accepted {
        let prompt = lowered.profile.render(&lowered.conversation);
        let ids = tokenize.then(|| {
            let tokenizer = self.tokenizers.iter().find(|(profile, _)| *profile == lowered.profile);
            tokenizer.map(|(_, tokenizer)| tokenizer.encode(&prompt).into_iter().map(u32::from).collect())
        });
        let special = prompt
            .display_specials()
            .map(|(start, end, special)| (start, end, special.spelling().to_owned()))
            .collect();
        Accepted {
            model: lowered.profile.name().to_owned(),
            special,
            prompt: prompt.to_string(),
            images: lowered.profile.images(&lowered.conversation).into_iter().map(image).collect(),
            thinking: lowered.conversation.thinking.is_on(),
            stream: lowered.stream,
            include_usage: lowered.include_usage,
            sampling: lowered.sampling,
            constraint: Constraint::of(&lowered.conversation)
                .map(|constraint| (constraint.kind().to_owned(), constraint.schema_text())),
            stops: lowered.stops.clone(),
            ids: ids.flatten(),
        }
    }
}

fn image(image: &Image) -> (String, String) {
    let url = match &image.source {
        ImageSource::Url(url) | ImageSource::Data(url) => url.clone(),
    };
    let detail = match image.detail {
        ImageDetail::Low => "low",
        ImageDetail::High => "high",
        ImageDetail::Original => "original",
        ImageDetail::Auto => "auto",
    };
    (url, detail.to_owned())
}
