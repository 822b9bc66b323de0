//! URIs (RFC 3986), as far as identifiers and references of schemas need them: syntax, resolution and the
//! normalisation (section 6.2.2) under which two of them are the same.

use std::net::Ipv6Addr;

/// The base of a schema without an identifier.
pub(in crate::schema) const NO_BASE: &str = "json-schema:///";

/// Whether `text` is a URI.
pub(super) fn is_uri(text: &str) -> bool {
    Parts::parse(text).is_ok_and(|parts| parts.scheme.is_some())
}

/// Whether `text` is a URI reference.
pub(super) fn is_reference(text: &str) -> bool {
    Parts::parse(text).is_ok()
}

/// The absolute, normalised form of an identifier that has no base.
pub(in crate::schema) fn absolute(id: &str) -> Result<String, String> {
    let parts = Parts::parse(id).map_err(|fault| fault.message(id))?;
    let base =
        Parts { scheme: Some("json-schema"), authority: Some(""), path: "/", query: None, fragment: None };
    Ok(parts.against(&base).unwrap_or_default())
}

/// Resolves `reference` against `base`, a result of [`absolute`] or of this function.
pub(in crate::schema) fn resolve(base: &str, reference: &str) -> Result<String, String> {
    if reference.starts_with('#') && base.ends_with(reference) {
        return Ok(base.to_owned());
    }
    let base = without_fragment(base);
    let parts = Parts::parse(reference).map_err(|fault| fault.message(reference))?;
    let base_parts = Parts::parse(base).map_err(|fault| fault.message(base))?;
    parts.against(&base_parts).ok_or_else(|| {
        format!(
            "Failed to resolve '{reference}' against '{base}': when base has a rootless path and no authority, \
             reference should either have scheme, be empty or start with '#'"
        )
    })
}

/// `uri` up to its fragment.
pub(super) fn without_fragment(uri: &str) -> &str {
    uri.split_once('#').map_or(uri, |(before, _)| before)
}

/// Decodes percent-encodings; `None` if the bytes are not UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match octet(bytes, at) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).ok()
}

/// The byte that a percent-encoding at `at` stands for.
fn octet(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    match bytes.get(at..at + 3)? {
        [b'%', high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    }
}

struct SyntaxFault {
    what: &'static str,
    index: usize,
}

impl SyntaxFault {
    fn message(&self, reference: &str) -> String {
        format!("Invalid URI reference '{reference}': {} at index {}", self.what, self.index)
    }
}

const UNEXPECTED: &str = "unexpected character";

const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// What a registered name is made of, percent-encodings aside.
const fn is_name(byte: u8) -> bool {
    let sub_delimiter =
        matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=');
    is_unreserved(byte) || sub_delimiter
}

const fn is_path(byte: u8) -> bool {
    is_name(byte) || matches!(byte, b':' | b'@' | b'/')
}

const fn is_query(byte: u8) -> bool {
    is_path(byte) || byte == b'?'
}

/// The components of a URI reference.
struct Parts<'t> {
    scheme: Option<&'t str>,
    authority: Option<&'t str>,
    path: &'t str,
    query: Option<&'t str>,
    fragment: Option<&'t str>,
}

impl<'t> Parts<'t> {
    fn parse(text: &'t str) -> Result<Self, SyntaxFault> {
        let mut reader = Reader { text, at: 0 };
        let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let length = text.bytes().take_while(|byte| is_scheme(*byte)).count();
        let scheme = if text.as_bytes().get(length) == Some(&b':') {
            if !text.as_bytes()[0].is_ascii_alphabetic() {
                return Err(SyntaxFault { what: UNEXPECTED, index: 0 });
            }
            reader.at = length + 1;
            Some(&text[..length])
        } else {
            None
        };
        let authority = if reader.rest().starts_with("//") {
            reader.at += 2;
            Some(reader.authority()?)
        } else {
            None
        };
        let start = reader.at;
        if scheme.is_none() && authority.is_none() {
            // A colon in the first segment would read as the end of a scheme.
            reader.run(|byte| is_path(byte) && !matches!(byte, b':' | b'/'))?;
            if reader.peek() == Some(b':') {
                return Err(reader.unexpected());
            }
        }
        reader.run(is_path)?;
        let path = &text[start..reader.at];
        if authority.is_some() && !path.is_empty() && !path.starts_with('/') {
            return Err(SyntaxFault { what: UNEXPECTED, index: start });
        }
        let query = if reader.skip(b'?') { Some(reader.run(is_query)?) } else { None };
        let fragment = if reader.skip(b'#') { Some(reader.run(is_query)?) } else { None };
        if reader.peek().is_some() {
            return Err(reader.unexpected());
        }
        Ok(Self { scheme, authority, path, query, fragment })
    }

    /// The normalised target of this reference; `None` if the base has no hierarchy to resolve it in.
    fn against(&self, base: &Parts<'_>) -> Option<String> {
        let relative = self.scheme.is_none() && self.authority.is_none();
        let empty = relative && self.path.is_empty();
        if base.authority.is_none() && !base.path.starts_with('/') && self.scheme.is_none() {
            let only_fragment = empty && self.query.is_none();
            if !only_fragment {
                return None;
            }
        }
        let scheme = self.scheme.or(base.scheme).unwrap_or_default();
        let authority = if relative { base.authority } else { self.authority };
        let path = match self.path {
            "" if relative => normal(base.path, false),
            path if !relative || path.starts_with('/') => normal(path, false),
            path => {
                let directory = base.path.rfind('/').map_or("/", |slash| &base.path[..=slash]);
                normal(directory, false) + &normal(path, false)
            }
        };
        let query = if empty { self.query.or(base.query) } else { self.query };
        let scheme = scheme.to_ascii_lowercase();
        let mut uri = format!("{scheme}:");
        if let Some(authority) = authority {
            uri.push_str("//");
            push_authority(&mut uri, &scheme, authority);
        }
        let path = if path.starts_with('/') { without_dots(&path) } else { path };
        if authority.is_none() && path.starts_with("//") {
            uri.push_str("/.");
        }
        uri.push_str(&path);
        for (mark, part) in [('?', query), ('#', self.fragment)] {
            if let Some(part) = part {
                uri.push(mark);
                uri.push_str(&normal(part, false));
            }
        }
        Some(uri)
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    const fn unexpected(&self) -> SyntaxFault {
        SyntaxFault { what: UNEXPECTED, index: self.at }
    }

    /// Reads bytes of a class and percent-encodings.
    fn run(&mut self, class: impl Fn(u8) -> bool) -> Result<&'t str, SyntaxFault> {
        let start = self.at;
        while let Some(byte) = self.peek() {
            if byte == b'%' {
                if octet(self.text.as_bytes(), self.at).is_none() {
                    return Err(SyntaxFault { what: "invalid percent-encoded octet", index: self.at });
                }
                self.at += 3;
            } else if class(byte) {
                self.at += 1;
            } else {
                break;
            }
        }
        Ok(&self.text[start..self.at])
    }

    fn authority(&mut self) -> Result<&'t str, SyntaxFault> {
        let start = self.at;
        let first = self.run(|byte| is_name(byte) || byte == b':')?;
        if self.skip(b'@') {
            if self.peek() == Some(b'[') {
                self.literal()?;
            } else {
                self.run(is_name)?;
            }
            self.port();
        } else if first.is_empty() {
            if self.peek() == Some(b'[') {
                self.literal()?;
                self.port();
            }
        } else if let Some((host, port)) = first.split_once(':') {
            if let Some(colon) = port.rfind(':') {
                return Err(SyntaxFault { what: UNEXPECTED, index: start + host.len() + 1 + colon });
            }
            if let Some(wrong) = port.bytes().position(|byte| !byte.is_ascii_digit()) {
                return Err(SyntaxFault { what: UNEXPECTED, index: start + host.len() + 1 + wrong });
            }
        }
        Ok(&self.text[start..self.at])
    }

    fn port(&mut self) {
        if self.skip(b':') {
            self.at += self.rest().bytes().take_while(u8::is_ascii_digit).count();
        }
    }

    /// An address in brackets.
    fn literal(&mut self) -> Result<(), SyntaxFault> {
        let start = self.at + 1;
        let inside = self.text.get(start..).unwrap_or_default();
        let is_six = |address: &str| address.parse::<Ipv6Addr>().is_ok();
        let Some(length) = inside.find(']') else {
            let length = inside
                .bytes()
                .take_while(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'))
                .count();
            return Err(if is_six(&inside[..length]) {
                SyntaxFault { what: UNEXPECTED, index: start + length }
            } else {
                SyntaxFault { what: "invalid IPv6 address", index: start }
            });
        };
        let address = &inside[..length];
        let is_future = address.strip_prefix(['v', 'V']).and_then(|rest| rest.split_once('.')).is_some_and(
            |(version, rest)| {
                !version.is_empty()
                    && version.bytes().all(|byte| byte.is_ascii_hexdigit())
                    && !rest.is_empty()
                    && rest.bytes().all(|byte| is_name(byte) || byte == b':')
            },
        );
        if !is_future && !is_six(address) {
            return Err(SyntaxFault { what: "invalid IPv6 address", index: start });
        }
        self.at = start + length + 1;
        Ok(())
    }
}

/// `part` with unreserved characters decoded and the other percent-encodings in upper case.
fn normal(part: &str, lower: bool) -> String {
    let mut result = String::with_capacity(part.len());
    let mut at = 0;
    while let Some(character) = part[at..].chars().next() {
        match octet(part.as_bytes(), at) {
            Some(byte) => {
                if is_unreserved(byte) {
                    result.push(if lower { byte.to_ascii_lowercase() } else { byte } as char);
                } else {
                    result.push_str(&part[at..at + 3].to_ascii_uppercase());
                }
                at += 3;
            }
            None => {
                result.push(if lower { character.to_ascii_lowercase() } else { character });
                at += character.len_utf8();
            }
        }
    }
    result
}

fn push_authority(uri: &mut String, scheme: &str, authority: &str) {
    let (user, host_and_port) = match authority.rsplit_once('@') {
        Some((user, rest)) => (Some(user), rest),
        None => (None, authority),
    };
    if let Some(user) = user {
        uri.push_str(&normal(user, false));
        uri.push('@');
    }
    let (host, port) = match host_and_port.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (host_and_port, ""),
    };
    uri.push_str(&normal(host, true));
    let usual = match scheme {
        "http" | "ws" => "80",
        "https" | "wss" => "443",
        "ftp" => "21",
        _ => "",
    };
    let is_usual = !usual.is_empty() && port.trim_start_matches('0') == usual;
    if !port.is_empty() && !is_usual {
        uri.push(':');
        uri.push_str(port);
    }
}

/// `path`, which starts with a slash, without the segments `.` and `..`.
fn without_dots(path: &str) -> String {
    let mut result = String::with_capacity(path.len());
    for segment in path.split_inclusive('/') {
        match segment.strip_suffix('/').unwrap_or(segment) {
            "." => {}
            ".." => {
                if result.len() > 1 {
                    let parent = result[..result.len() - 1].rfind('/').map_or(0, |slash| slash + 1);
                    result.truncate(parent);
                }
            }
            _ => result.push_str(segment),
        }
    }
    result
}
