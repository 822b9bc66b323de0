//! `minLength`, `maxLength`, `pattern`, `format`, and what old drafts say about content.

use super::{size_from, size_to, text};
use crate::grammar::language::Language;
use crate::json::Json;
use crate::schema::meta::drafts::Draft;
use crate::schema::values::error::{Fault, Outcome};
use crate::schema::values::goal::{Compiler, Site};
use crate::schema::values::union::Union;

pub(super) fn at_least<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    let min = size_from(value)?;
    // Both bounds at once if they stand side by side.
    let max = site.members.get("maxLength").map_or(Ok(None), size_to)?;
    let lengths = lengths(compiler, min, max)?;
    compiler.narrow_strings(left, &lengths)
}

pub(super) fn shorter_than<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    match size_from(value)? {
        0 => Ok(Union::none()),
        min => Ok(Union::of_strings(lengths(compiler, 0, Some(min - 1))?)),
    }
}

pub(super) fn at_most<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    let max = size_to(value)?;
    if site.members.get("minLength").is_some() {
        return Ok(());
    }
    let lengths = lengths(compiler, 0, max)?;
    compiler.narrow_strings(left, &lengths)
}

pub(super) fn longer_than<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    match size_to(value)? {
        Some(max) => Ok(Union::of_strings(lengths(compiler, max + 1, None)?)),
        None => Ok(Union::none()),
    }
}

fn lengths(compiler: &mut Compiler<'_>, min: u32, max: Option<u32>) -> Outcome<Language> {
    if max.is_some_and(|max| max < min) {
        return Ok(Language::never());
    }
    compiler.language(|_| Ok(Language::length(min, max)))
}

pub(super) fn pattern<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    let language = compiler.pattern(text(value)?)?;
    compiler.narrow_strings(left, &language)
}

pub(super) fn no_pattern<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    let language = compiler.pattern(text(value)?)?;
    Ok(Union::of_strings(compiler.not_strings(&language)?))
}

pub(super) fn format<'s>(
    compiler: &mut Compiler<'s>,
    _: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    // Also in drafts that are older than the format: whoever names it means it.
    let Some(language) = Language::format(text(value)?) else { return Ok(()) };
    compiler.narrow_strings(left, &language)
}

pub(super) fn no_format<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    let Some(name) = asserted(site.draft, text(value)?) else { return Ok(Union::none()) };
    let Some(language) = Language::format(name) else { return Ok(Union::none()) };
    if !EXACT_FORMATS.contains(&name) {
        return Err(Fault::unsupported(format!("what is not in the format '{name}' is not known exactly")));
    }
    Ok(Union::of_strings(compiler.not_strings(&language)?))
}

/// The formats whose languages are all of the format, so that the complement is right.
const EXACT_FORMATS: &[&str] = &[
    "date",
    "date-time",
    "duration",
    "ipv4",
    "ipv6",
    "json-pointer",
    "relative-json-pointer",
    "time",
    "uuid",
];

/// The format if `draft` has it; others are annotations.
fn asserted(draft: Draft, name: &str) -> Option<&str> {
    let since = match name {
        "date" | "date-time" | "email" | "hostname" | "idn-email" | "ipv4" | "ipv6" | "regex" | "time"
        | "uri" => Draft::Draft4,
        "json-pointer" | "uri-reference" | "uri-template" => Draft::Draft6,
        "idn-hostname" | "iri" | "iri-reference" | "relative-json-pointer" => Draft::Draft7,
        "duration" | "uuid" => Draft::Draft201909,
        _ => return None,
    };
    (draft >= since).then_some(name)
}

pub(super) fn encoding<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    left: &mut Union<'s>,
) -> Outcome<()> {
    let Some(pattern) = encoded(site, value)? else { return Ok(()) };
    let language = compiler.pattern(pattern)?;
    compiler.narrow_strings(left, &language)
}

pub(super) fn no_encoding<'s>(
    compiler: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    let Some(pattern) = encoded(site, value)? else { return Ok(Union::none()) };
    let language = compiler.pattern(pattern)?;
    Ok(Union::of_strings(compiler.not_strings(&language)?))
}

/// The pattern of a `contentEncoding`. Beside a media type it is checked together with that.
fn encoded(site: &Site<'_>, value: &Json) -> Outcome<Option<&'static str>> {
    let name = text(value)?;
    if site.members.get("contentMediaType").is_some() {
        return Ok(None);
    }
    // The last character before padding has no bits to spare.
    Ok(match name {
        "base64" => Some("^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$"),
        "base64url" => {
            Some("^([A-Za-z0-9_-]{4})*([A-Za-z0-9_-][AQgw]==|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048]=)?$")
        }
        "base32" => Some(
            "^([A-Z2-7]{8})*([A-Z2-7][AEIMQUY4]={6}|[A-Z2-7]{3}[AQ]={4}|[A-Z2-7]{4}[ACEGIKMOQSUWY246]===|[A-Z2-7]{6}[AIQY]=)?$",
        ),
        "base32hex" => Some(
            "^([0-9A-V]{8})*([0-9A-V][048CGKOS]={6}|[0-9A-V]{3}[0G]={4}|[0-9A-V]{4}[02468ACEGIKMOQSU]===|[0-9A-V]{6}[08GO]=)?$",
        ),
        "base16" => Some("^([0-9A-F]{2})*$"),
        _ => None,
    })
}

pub(super) fn media_type<'s>(
    _: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
    _: &mut Union<'s>,
) -> Outcome<()> {
    unless_checked(site, value)
}

pub(super) fn no_media_type<'s>(
    _: &mut Compiler<'s>,
    site: &Site<'s>,
    value: &'s Json,
) -> Outcome<Union<'s>> {
    unless_checked(site, value)?;
    Ok(Union::none())
}

/// The only media type that is checked is JSON, unless its encoding is unknown.
fn unless_checked(site: &Site<'_>, value: &Json) -> Outcome<()> {
    const ENCODINGS: &[&str] = &["base64", "base64url", "base32", "base32hex", "base16"];
    let is_readable = match site.members.get("contentEncoding") {
        Some(encoding) => ENCODINGS.contains(&text(encoding)?),
        None => true,
    };
    if text(value)? == "application/json" && is_readable {
        return Err(Fault::unsupported("JSON inside of a string"));
    }
    Ok(())
}
