//! What a side makes of a request, in a form that can be compared.

use deepseek_codec::protocol::Sampling;
use serde_json::{Value, json};

/// The result of one request on one side.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Refused(Refusal),
    Accepted(Box<Accepted>),
}

/// A refused request.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    pub status: u16,
    /// `None` where the reference's wire types refuse the body: their wording is not part of the contract.
    pub message: Option<String>,
}

/// An accepted request.
#[derive(Debug, Clone, PartialEq)]
pub struct Accepted {
    pub model: String,
    pub prompt: String,
    /// Start, end and spelling of each explicit special token.
    pub special: Vec<(usize, usize, String)>,
    /// URL and detail of each image, in prompt order.
    pub images: Vec<(String, String)>,
    pub thinking: bool,
    pub stream: bool,
    pub include_usage: bool,
    pub sampling: Sampling,
    /// Kind and schema text.
    pub constraint: Option<(String, String)>,
    pub stops: Vec<String>,
    /// Token ids, where the run tokenizes this case.
    pub ids: Option<Vec<u32>>,
}

/// One way in which two outcomes differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Which part of the outcome differs.
    pub field: &'static str,
    pub reference: String,
    pub ours: String,
}

impl Outcome {
    pub fn accepted(&self) -> Option<&Accepted> {
        match self {
            Self::Accepted(accepted) => Some(accepted),
            Self::Refused(_) => None,
        }
    }

    /// One line for people.
    pub fn summary(&self) -> String {
        match self {
            Self::Refused(Refusal { status, message: Some(message) }) => format!("{status} {message}"),
            Self::Refused(Refusal { status, message: None }) => {
                format!("{status} (the wire types refuse the body)")
            }
            Self::Accepted(accepted) => format!("200 prompt of {} bytes", accepted.prompt.len()),
        }
    }

    /// How `ours` differs from this outcome of the reference.
    pub fn differences(&self, ours: &Self) -> Vec<Difference> {
        let whole = |field| Difference { field, reference: self.summary(), ours: ours.summary() };
        match (self, ours) {
            (Self::Accepted(reference), Self::Accepted(ours)) => reference.differences(ours),
            (Self::Accepted(_), Self::Refused(_)) => vec![whole("refused")],
            (Self::Refused(_), Self::Accepted(_)) => vec![whole("accepted")],
            (Self::Refused(reference), Self::Refused(refusal)) => {
                if reference.status != refusal.status {
                    vec![whole("status")]
                } else if reference.message.is_some() && reference.message != refusal.message {
                    vec![whole("message")]
                } else {
                    Vec::new()
                }
            }
        }
    }
}

impl Accepted {
    fn differences(&self, ours: &Self) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut note = |field, reference: String, ours: String| {
            if reference != ours {
                let (reference, ours) = around_first_difference(&reference, &ours);
                found.push(Difference { field, reference, ours });
            }
        };
        note("model", self.model.clone(), ours.model.clone());
        note("prompt", self.prompt.clone(), ours.prompt.clone());
        if self.prompt == ours.prompt {
            note("special", format!("{:?}", self.special), format!("{:?}", ours.special));
            if let (Some(reference), Some(ids)) = (&self.ids, &ours.ids) {
                note("ids", format!("{reference:?}"), format!("{ids:?}"));
            }
        }
        note("images", format!("{:?}", self.images), format!("{:?}", ours.images));
        note("thinking", self.thinking.to_string(), ours.thinking.to_string());
        note("stream", self.stream.to_string(), ours.stream.to_string());
        note("include_usage", self.include_usage.to_string(), ours.include_usage.to_string());
        note("sampling", format!("{:?}", self.sampling), format!("{:?}", ours.sampling));
        note("constraint", format!("{:?}", self.constraint), format!("{:?}", ours.constraint));
        note("stops", format!("{:?}", self.stops), format!("{:?}", ours.stops));
        found
    }

    /// The result keys of a fixture line.
    pub fn to_json(&self) -> Value {
        let Sampling { max_tokens, temperature, top_p, logprobs, top_logprobs, seed, n: _ } = self.sampling;
        let constraint = self.constraint.as_ref();
        let constraint = constraint.map(|(kind, schema)| json!({ "kind": kind, "schema": schema }));
        json!({
            "status": 200,
            "prompt": self.prompt,
            "special": self.special,
            "images": self.images.len(),
            "thinking": self.thinking,
            "stream": self.stream,
            "sampling": {
                "max_tokens": max_tokens,
                "temperature": temperature,
                "top_p": top_p,
                "logprobs": logprobs,
                "top_logprobs": top_logprobs,
                "seed": seed,
                "constraint": constraint,
            },
            "stops": self.stops,
            "ids": self.ids,
        })
    }
}

/// Both texts from a little before the place where they part.
fn around_first_difference(left: &str, right: &str) -> (String, String) {
    let common = left.chars().zip(right.chars()).take_while(|(a, b)| a == b).count();
    let cut = |text: &str| {
        let start = common.saturating_sub(60);
        let mut out: String = text.chars().skip(start).take(160).collect();
        if start > 0 {
            out.insert(0, '…');
        }
        if text.chars().count() > start + 160 {
            out.push('…');
        }
        out
    };
    (cut(left), cut(right))
}
