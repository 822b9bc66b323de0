//! Where the prompts of two requests part: a prefix cache ends there.

use crate::conversation::Conversation;
use crate::json::Json;
use crate::prompt::{Position, Source};
use crate::token::TokenId;

use super::View;
use super::parts::{label, placed_ids};

/// How many tokens are shown before and after the place.
const CONTEXT: usize = 12;

/// How two prompts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Tokens of each prompt.
    pub tokens: [usize; 2],
    /// How many tokens at the front are the same.
    pub common: usize,
    /// What follows them in each prompt; `None` if the prompts are the same.
    pub sides: Option<[Parting; 2]>,
    /// The likely reason; empty if the prompts are the same.
    pub reason: String,
}

/// The place where a prompt leaves the other one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parting {
    /// The part of the prompt: see [`label`].
    pub label: String,
    /// The text of the last tokens before the place, special tokens spelled.
    pub before: String,
    /// The text of the first tokens after it.
    pub after: String,
}

impl Difference {
    /// Compares the prompts of two requests.
    #[must_use]
    pub fn between(a: View<'_>, b: View<'_>) -> Self {
        let views = [a, b];
        let placed = views.map(|view| placed_ids(view.tokenizer, view.prompt));
        let common = placed[0].iter().zip(&placed[1]).take_while(|((a, _), (b, _))| a == b).count();
        let tokens = placed.each_ref().map(Vec::len);
        if tokens == [common; 2] {
            return Self { tokens, common, sides: None, reason: String::new() };
        }
        let sides = [0, 1].map(|side: usize| parting(views[side], &placed[side], common));
        Self { tokens, common, sides: Some(sides), reason: reason(views, &placed, common) }
    }

    /// The difference as JSON.
    #[must_use]
    pub fn json(&self) -> Json {
        let sides = self.sides.as_ref().map(|sides| {
            Json::Array(
                sides
                    .iter()
                    .map(|side| {
                        Json::from([
                            ("label", side.label.as_str().into()),
                            ("before", side.before.as_str().into()),
                            ("after", side.after.as_str().into()),
                        ])
                    })
                    .collect(),
            )
        });
        Json::from([
            ("tokens", Json::Array(self.tokens.iter().map(|&tokens| (tokens as u64).into()).collect())),
            ("common", (self.common as u64).into()),
            ("sides", sides.into()),
            ("reason", self.reason.as_str().into()),
        ])
    }
}

fn parting(view: View<'_>, ids: &[(TokenId, Position)], common: usize) -> Parting {
    let text = |range: &[(TokenId, Position)]| {
        let ids: Vec<TokenId> = range.iter().map(|&(id, _)| id).collect();
        view.tokenizer.decode(&ids)
    };
    let at = ids.get(common).map_or_else(|| view.prompt.end(), |&(_, at)| at);
    Parting {
        label: label(source_at(view, at), &view.lowered.conversation),
        before: text(&ids[common.saturating_sub(CONTEXT)..common]),
        after: text(&ids[common..ids.len().min(common + CONTEXT)]),
    }
}

fn source_at(view: View<'_>, at: Position) -> Source {
    let sources = view.prompt.sources();
    sources.take_while(|&(begin, _)| begin <= at).last().map_or(Source::Start, |(_, source)| source)
}

/// The likely reason, from where the prompts part.
fn reason(views: [View<'_>; 2], placed: &[Vec<(TokenId, Position)>; 2], common: usize) -> String {
    let conversations = views.map(|view| &view.lowered.conversation);
    let [a, b] =
        [0, 1].map(|side: usize| placed[side].get(common).map(|&(_, at)| source_at(views[side], at)));
    if views[0].lowered.profile != views[1].lowered.profile {
        return "the requests go to different models".to_owned();
    }
    match (a, b) {
        (None, _) => "A ends here and B goes on: B reuses all of A".to_owned(),
        (_, None) => "B ends here and A goes on: A reuses all of B".to_owned(),
        (Some(a), Some(b)) => {
            let settings = settings_reason(conversations);
            match (a, b) {
                (Source::Start, _) | (_, Source::Start) if settings.is_some() => settings.unwrap_or_default(),
                (Source::Tools, Source::Tools) => tools_reason(conversations),
                (Source::Turn, Source::Message(index)) | (Source::Message(index), Source::Turn) => {
                    let longer = if a == Source::Turn { "B" } else { "A" };
                    format!("{longer} goes on with message {index} where the other starts the model's turn")
                }
                (a, b) => {
                    let (a, b) = (label(a, conversations[0]), label(b, conversations[1]));
                    let place =
                        if a == b { format!("{a} differs") } else { format!("A has {a} where B has {b}") };
                    settings.map_or_else(|| place.clone(), |settings| format!("{place}; also, {settings}"))
                }
            }
        }
    }
}

/// A difference in settings that reaches into the prompt.
fn settings_reason([a, b]: [&Conversation; 2]) -> Option<String> {
    if a.thinking != b.thinking {
        return Some(format!("thinking differs: {:?} in A, {:?} in B", a.thinking, b.thinking));
    }
    if a.offers_tools() != b.offers_tools() {
        let with = if a.offers_tools() { "A" } else { "B" };
        return Some(format!("only {with} offers tools, and without tools earlier reasoning is left out"));
    }
    (a.response_format != b.response_format).then(|| "the response formats differ".to_owned())
}

fn tools_reason([a, b]: [&Conversation; 2]) -> String {
    let first = a.tools.iter().zip(&b.tools).position(|(a, b)| a != b);
    match first {
        Some(index) if a.tools[index].name == b.tools[index].name => {
            format!("the declarations of tool {} ({index}) differ", a.tools[index].name)
        }
        Some(index) => {
            format!("tool {index} is {} in A and {} in B", a.tools[index].name, b.tools[index].name)
        }
        None => format!("A declares {} tools, B {}", a.tools.len(), b.tools.len()),
    }
}
