//! Structural tags that others wrote, as rules.

use std::fmt;

use crate::constraint::compile::{ConstraintError, Schemas, shapes};
use crate::grammar::Expr;
use crate::grammar::language::{Language, Limits};
use crate::grammar::value::Values;
use crate::json::{Json, Object};
use crate::model::Profile;
use crate::token::Special;

/// How deep formats may nest.
const MAX_DEPTH: usize = 64;
/// How often something may be repeated, at the least and at the most.
const MAX_REPEAT: u64 = 10_000;

/// What is wrong with a structural tag, or more than masks can enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagError {
    /// Where it is: `format.elements[1]`.
    pub path: String,
    /// What it is.
    pub problem: String,
    /// Whether it is well-formed, but not known here.
    pub is_unsupported: bool,
}

impl fmt::Display for TagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "structural tag at {}: {}", self.path, self.problem)
    }
}

/// Reads a tag. `values` receives its schemas.
pub(in crate::constraint) fn read(
    tag: &Json,
    profile: &Profile,
    schemas: &mut Schemas,
    values: &mut Values,
) -> Result<Expr, ConstraintError> {
    let mut reader = Reader { profile, schemas, values, depth: 0 };
    if tag.get("structures").is_some() {
        return reader.older(tag);
    }
    let root = At { json: tag, path: "$".to_owned() };
    let members = root.members(&["type", "format"])?;
    if tag.get("type").and_then(Json::as_str) != Some("structural_tag") {
        return Err(root.fail("its `type` is not \"structural_tag\""));
    }
    let format = members.get("format").ok_or_else(|| root.fail("it has no `format`"))?;
    reader.format(&At { json: format, path: "format".to_owned() }, &[])
}

/// Whether a tag says itself where reasoning ends.
pub(in crate::constraint) fn ends_reasoning(tag: &Json) -> bool {
    match tag {
        Json::String(text) => text.contains(Special::ThinkEnd.spelling()),
        Json::Array(items) => items.iter().any(ends_reasoning),
        // Schemas may speak of anything.
        Json::Object(members) => members
            .iter()
            .any(|(key, value)| !matches!(key, "json_schema" | "schema") && ends_reasoning(value)),
        _ => false,
    }
}

/// A part of a tag, and where it is.
struct At<'j> {
    json: &'j Json,
    path: String,
}

impl<'j> At<'j> {
    fn error(&self, problem: impl Into<String>, is_unsupported: bool) -> ConstraintError {
        ConstraintError::Tag(TagError { path: self.path.clone(), problem: problem.into(), is_unsupported })
    }

    fn fail(&self, problem: impl Into<String>) -> ConstraintError {
        self.error(problem, false)
    }

    /// The members, if there are no others than these: what is not known might have to be enforced.
    fn members(&self, known: &[&str]) -> Result<&'j Object, ConstraintError> {
        let members = self.json.as_object().ok_or_else(|| self.fail("it is not an object"))?;
        let other = |(key, value): &(&str, &Json)| !known.contains(key) && !matches!(value, Json::Null);
        match members.iter().find(other) {
            None => Ok(members),
            Some((key, _)) => Err(self.error(format!("`{key}` is not supported"), true)),
        }
    }

    fn member(&self, name: &str) -> Result<At<'j>, ConstraintError> {
        let json = self.json.get(name).ok_or_else(|| self.fail(format!("it has no `{name}`")))?;
        Ok(At { json, path: format!("{}.{name}", self.path) })
    }

    fn text(&self, name: &str) -> Result<&'j str, ConstraintError> {
        let member = self.member(name)?;
        member.json.as_str().ok_or_else(|| member.fail("it is not a string"))
    }

    fn items(&self, name: &str) -> Result<Vec<At<'j>>, ConstraintError> {
        let member = self.member(name)?;
        let items = member.json.as_array().ok_or_else(|| member.fail("it is not a list"))?;
        let item = |(at, json)| At { json, path: format!("{}[{at}]", member.path) };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// A list of strings; none if it is not there.
    fn texts(&self, name: &str) -> Result<Vec<&'j str>, ConstraintError> {
        if self.json.get(name).is_none_or(|member| matches!(member, Json::Null)) {
            return Ok(Vec::new());
        }
        let string = |item: &At<'j>| item.json.as_str().ok_or_else(|| item.fail("it is not a string"));
        self.items(name)?.iter().map(string).collect()
    }

    fn flag(&self, name: &str) -> Result<bool, ConstraintError> {
        match self.json.get(name) {
            None | Some(Json::Null) => Ok(false),
            Some(Json::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.member(name)?.fail("it is not true or false")),
        }
    }

    fn number(&self, name: &str) -> Result<Option<u32>, ConstraintError> {
        match self.json.get(name) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::Number(number)) if number.as_i64() == Some(-1) => Ok(None),
            Some(Json::Number(number)) if number.as_u64().is_some_and(|number| number <= MAX_REPEAT) => {
                Ok(number.as_u64().map(|number| number as u32))
            }
            Some(_) => Err(self.member(name)?.fail("it is not a small number")),
        }
    }
}

struct Reader<'r> {
    profile: &'r Profile,
    schemas: &'r mut Schemas,
    values: &'r mut Values,
    depth: usize,
}

/// An element and how it ends: `begin`, content, `end`.
struct Tag {
    begin: String,
    expr: Expr,
}

impl Reader<'_> {
    /// A format. `ends` are the texts that end it, which free text does not contain.
    fn format(&mut self, at: &At<'_>, ends: &[&str]) -> Result<Expr, ConstraintError> {
        if self.depth > MAX_DEPTH {
            return Err(at.fail("formats nest too deep"));
        }
        self.depth += 1;
        let format = self.known(at, ends);
        self.depth -= 1;
        format
    }

    fn known(&mut self, at: &At<'_>, ends: &[&str]) -> Result<Expr, ConstraintError> {
        match at.text("type")? {
            "const_string" => {
                at.members(&["type", "value"])?;
                Ok(self.text(at.text("value")?))
            }
            "json_schema" => {
                at.members(&["type", "json_schema", "style"])?;
                let style = if at.json.get("style").is_some() { at.text("style")? } else { "json" };
                let schema = at.member("json_schema")?;
                self.schema(&schema, style)
            }
            "regex" => {
                at.members(&["type", "pattern"])?;
                let language = Language::whole(at.text("pattern")?, &Limits::default())?;
                if language.is_empty() { Err(ConstraintError::NoText) } else { Ok(Expr::Word(language)) }
            }
            "any_text" => {
                at.members(&["type", "excludes"])?;
                self.free([at.texts("excludes")?, ends.to_vec()].concat())
            }
            "any_tokens" => {
                at.members(&["type", "exclude_tokens"])?;
                // Text has no special tokens in any case; other tokens may be made of others.
                for token in at.texts("exclude_tokens")? {
                    if !matches!(&self.pieces(token)[..], [Expr::Special(_)]) {
                        return Err(at.error(format!("the token {token:?} cannot be excluded"), true));
                    }
                }
                self.free(ends.to_vec())
            }
            "token" => {
                at.members(&["type", "token"])?;
                match &self.pieces(at.text("token")?)[..] {
                    [Expr::Special(special)] => Ok(Expr::Special(*special)),
                    _ => Err(at.error("only special tokens are supported", true)),
                }
            }
            "sequence" => self.sequence(at, ends),
            "or" => {
                at.members(&["type", "elements"])?;
                let elements = at.items("elements")?;
                let parts: Result<_, _> = elements.iter().map(|part| self.format(part, ends)).collect();
                Ok(Expr::Choice(parts?))
            }
            "optional" => {
                at.members(&["type", "content"])?;
                let content = self.format(&at.member("content")?, ends)?;
                Ok(Expr::Choice(vec![content, Expr::Text(String::new())]))
            }
            kind @ ("star" | "plus") => {
                at.members(&["type", "content"])?;
                let of = Box::new(self.format(&at.member("content")?, ends)?);
                Ok(Expr::Repeat { of, min: u32::from(kind == "plus"), max: None })
            }
            "repeat" => {
                at.members(&["type", "content", "min", "max"])?;
                let of = Box::new(self.format(&at.member("content")?, ends)?);
                let (min, max) = (at.number("min")?.unwrap_or(0), at.number("max")?);
                if max.is_some_and(|max| max < min) {
                    return Err(at.fail("`max` is less than `min`"));
                }
                Ok(Expr::Repeat { of, min, max })
            }
            "tag" => Ok(self.tag(at)?.expr),
            "triggered_tags" => {
                at.members(&["type", "triggers", "tags", "at_least_one", "stop_after_first", "excludes"])?;
                let tags: Result<Vec<Tag>, _> = at.items("tags")?.iter().map(|tag| self.tag(tag)).collect();
                self.triggered(at, tags?, ends)
            }
            "tags_with_separator" => self.separated(at),
            kind => Err(at.error(format!("the format {kind} is not supported"), true)),
        }
    }

    /// The form that came before: free text with schemas between texts.
    fn older(&mut self, tag: &Json) -> Result<Expr, ConstraintError> {
        let root = At { json: tag, path: "$".to_owned() };
        root.members(&["type", "structures", "triggers"])?;
        let mut tags = Vec::new();
        for structure in root.items("structures")? {
            structure.members(&["begin", "schema", "end"])?;
            let (begin, end) = (structure.text("begin")?, structure.text("end")?);
            let value = self.schema(&structure.member("schema")?, "json")?;
            let expr = Expr::Sequence(vec![self.text(begin), value, self.text(end)]);
            tags.push(Tag { begin: begin.to_owned(), expr });
        }
        self.triggered(&root, tags, &[])
    }

    fn sequence(&mut self, at: &At<'_>, ends: &[&str]) -> Result<Expr, ConstraintError> {
        at.members(&["type", "elements"])?;
        let elements = at.items("elements")?;
        let mut parts = Vec::with_capacity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            // Free text goes on until what comes next, where that is a text.
            let next = elements.get(index + 1).map(|next| next.json);
            let text = |next: &Json| ["value", "begin"].iter().find_map(|name| next.get(name)).cloned();
            let next_text = next.and_then(text);
            let next_text = next_text.as_ref().and_then(Json::as_str).filter(|text| !text.is_empty());
            let own = next_text.map_or_else(Vec::new, |text| vec![text]);
            parts.push(self.format(element, if next.is_some() { &own } else { ends })?);
        }
        Ok(Expr::Sequence(parts))
    }

    fn tag(&mut self, at: &At<'_>) -> Result<Tag, ConstraintError> {
        at.members(&["type", "begin", "content", "end"])?;
        let begin = at.text("begin")?;
        let ends = match at.json.get("end") {
            Some(Json::String(end)) => vec![&end[..]],
            _ => at.texts("end")?,
        };
        let content = at.member("content")?;
        let until: Vec<&str> = ends.iter().copied().filter(|end| !end.is_empty()).collect();
        let content = self.format(&content, &until)?;
        let end = Expr::Choice(ends.iter().map(|end| self.text(end)).collect());
        let mut parts = vec![self.text(begin), content];
        if !ends.is_empty() {
            parts.push(end);
        }
        Ok(Tag { begin: begin.to_owned(), expr: Expr::Sequence(parts) })
    }

    /// Free text in which each trigger begins one of the tags. If there must be one, it stands at the beginning.
    fn triggered(&mut self, at: &At<'_>, tags: Vec<Tag>, ends: &[&str]) -> Result<Expr, ConstraintError> {
        let triggers = at.texts("triggers")?;
        if triggers.is_empty() || tags.is_empty() {
            return Err(at.fail("there is no trigger or no tag"));
        }
        if triggers.contains(&"") {
            return Err(at.fail("a trigger is empty"));
        }
        if let Some(tag) = tags.iter().find(|tag| !triggers.iter().any(|it| tag.begin.starts_with(it))) {
            return Err(at.fail(format!("no trigger begins the tag {:?}", tag.begin)));
        }
        let free = self.free([triggers, ends.to_vec(), at.texts("excludes")?].concat())?;
        let tag = Expr::Choice(tags.into_iter().map(|tag| tag.expr).collect());
        let later = Expr::Sequence(vec![free.clone(), tag.clone()]);
        let at_least_one = at.flag("at_least_one")?;
        Ok(match (at_least_one, at.flag("stop_after_first")?) {
            (true, true) => tag,
            (false, true) => Expr::Choice(vec![later, free]),
            (true, false) => {
                Expr::Sequence(vec![tag, Expr::Repeat { of: Box::new(later), min: 0, max: None }, free])
            }
            (false, false) => {
                Expr::Sequence(vec![Expr::Repeat { of: Box::new(later), min: 0, max: None }, free])
            }
        })
    }

    fn separated(&mut self, at: &At<'_>) -> Result<Expr, ConstraintError> {
        at.members(&["type", "tags", "separator", "at_least_one", "stop_after_first"])?;
        let tags: Result<Vec<Tag>, _> = at.items("tags")?.iter().map(|tag| self.tag(tag)).collect();
        let tag = Expr::Choice(tags?.into_iter().map(|tag| tag.expr).collect());
        let separator = self.text(at.text("separator")?);
        let some = if at.flag("stop_after_first")? {
            tag
        } else {
            let later = Expr::Sequence(vec![separator, tag.clone()]);
            Expr::Sequence(vec![tag, Expr::Repeat { of: Box::new(later), min: 0, max: None }])
        };
        let may_be_none = !at.flag("at_least_one")?;
        Ok(if may_be_none { Expr::Choice(vec![some, Expr::Text(String::new())]) } else { some })
    }

    /// A value that follows a schema, as JSON or in the model's own markup.
    fn schema(&mut self, at: &At<'_>, style: &str) -> Result<Expr, ConstraintError> {
        let found = self.schemas.values(at.json, None)?;
        match style {
            "json" => Ok(Expr::Json(self.values.append(&found))),
            "deepseek_xml" => {
                let shapes = shapes(&found, self.profile.dsml(), self.values);
                if shapes.is_empty() {
                    return Err(at.fail("no object that markup can write follows it"));
                }
                Ok(Expr::Choice(shapes))
            }
            _ => Err(at.error(format!("the style {style} is not supported"), true)),
        }
    }

    /// Text without any of these. What has a special token in it stands in no text.
    fn free(&self, without: Vec<&str>) -> Result<Expr, ConstraintError> {
        let is_text = |text: &&str| !self.pieces(text).iter().any(|part| matches!(part, Expr::Special(_)));
        let without: Vec<String> = without.into_iter().filter(is_text).map(escaped).collect();
        if without.is_empty() {
            return Ok(Expr::Word(Language::any()));
        }
        let pattern = format!("(?s)(?!.*(?:{})).*", without.join("|"));
        Ok(Expr::Word(Language::whole(&pattern, &Limits::default())?))
    }

    fn text(&self, text: &str) -> Expr {
        Expr::Sequence(self.pieces(text))
    }

    /// A text, cut where it spells special tokens of the model.
    fn pieces(&self, text: &str) -> Vec<Expr> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        let specials = self.profile.vocabulary().specials;
        while !rest.is_empty() {
            let found = specials
                .iter()
                .flat_map(|special| special.spellings.iter().map(move |spelling| (special.role, *spelling)))
                .filter_map(|(role, spelling)| rest.find(spelling).map(|at| (at, role, spelling)))
                .min_by_key(|(at, _, spelling)| (*at, usize::MAX - spelling.len()));
            let Some((at, role, spelling)) = found else {
                pieces.push(Expr::Text(rest.to_owned()));
                break;
            };
            if at > 0 {
                pieces.push(Expr::Text(rest[..at].to_owned()));
            }
            pieces.push(Expr::Special(role));
            rest = &rest[at + spelling.len()..];
        }
        pieces
    }
}

/// A pattern of exactly this text.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}
