//! Tags of tool-call markup, read from the text behind the markup's special token.

/// The longest tag, in bytes: longer ones are given up.
pub(super) const MAX_TAG_BYTES: usize = 64 * 1024;

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tag {
    /// The block around all calls.
    Block,
    /// A call, with the tool's name.
    Invoke(String),
    /// A parameter.
    Parameter { name: String, form: ValueForm },
    /// The end of a block.
    EndBlock,
    /// The end of a call.
    EndInvoke,
    /// The end of a parameter.
    EndParameter,
    /// Anything else.
    Unknown,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueForm {
    /// As it is.
    String,
    /// As JSON.
    Json,
    /// The tag does not say.
    Unknown,
}

const INVOKE: &str = "invoke name=\"";
const PARAMETER: &str = "parameter name=\"";
const IS_STRING: &str = "\" string=\"true\">";
const IS_JSON: &str = "\" string=\"false\">";

/// The text of a tag while it arrives.
#[derive(Debug, Clone, Default)]
pub(super) struct TagReader {
    /// Without the blanks in front.
    text: String,
    /// Whether the tag began with `</`.
    closing: bool,
    /// Where the tag begins in the output's text.
    at: u64,
}

impl TagReader {
    pub(super) const fn new(closing: bool, at: u64) -> Self {
        Self { text: String::new(), closing, at }
    }

    pub(super) const fn at(&self) -> u64 {
        self.at
    }

    /// Bytes of the tag so far.
    pub(super) const fn len(&self) -> usize {
        self.text.len()
    }

    /// Takes more text. Returns the tag once it is complete, and how much of `text` was taken: without a tag, all
    /// unless the tag is too long.
    pub(super) fn push(&mut self, text: &str) -> (Option<Tag>, usize) {
        let before = self.text.len();
        let start = if before == 0 { text.len() - text.trim_start().len() } else { 0 };
        let room = MAX_TAG_BYTES - before;
        let end = text.len().min(start + room);
        let end = (start..=end).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(start);
        self.text.push_str(&text[start..end]);
        // A terminator may have begun before this text.
        let from = before.saturating_sub(IS_JSON.len());
        let from = (0..=from).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(0);
        match self.complete(from) {
            Some((tag, end)) => (Some(tag), start + end.saturating_sub(before)),
            None => (None, end),
        }
    }

    /// The complete tag and where it ends, looking for its end from `from` on.
    fn complete(&self, from: usize) -> Option<(Tag, usize)> {
        let name = self.text.as_str();
        if self.closing {
            let (name, end) = self.line(from)?;
            return Some((end_tag(name.trim()), end));
        }
        if name.starts_with(PARAMETER) {
            let start = PARAMETER.len();
            let from = from.max(start.min(self.text.len()));
            // The value of the name may have begun just before; its end cannot stand before its start.
            let (at, form, length) = [(IS_STRING, ValueForm::String), (IS_JSON, ValueForm::Json)]
                .into_iter()
                .filter_map(|(end, form)| self.text[from..].find(end).map(|at| (from + at, form, end.len())))
                .min_by_key(|&(at, ..)| at)?;
            let name = self.text[start..at].to_owned();
            return Some((Tag::Parameter { name, form }, at + length));
        }
        if name.starts_with(INVOKE) {
            let start = INVOKE.len();
            let from = from.max(start.min(self.text.len()));
            let at = self.text[from..].find("\">")? + from;
            return Some((Tag::Invoke(self.text[start..at].to_owned()), at + 2));
        }
        if PARAMETER.starts_with(name) || INVOKE.starts_with(name) {
            return None;
        }
        let (name, end) = self.line(from)?;
        let tag = match name.trim() {
            "tool_calls" | "calls" | "function_calls" => Tag::Block,
            _ => Tag::Unknown,
        };
        Some((tag, end))
    }

    /// The tag's text without its `>`, and where the tag ends. What goes on behind its line is no tag: that may be
    /// the rest of an answer.
    fn line(&self, from: usize) -> Option<(&str, usize)> {
        let at = self.text[from..].find(['>', '\n'])? + from;
        let is_tag = self.text[at..].starts_with('>');
        Some(if is_tag { (&self.text[..at], at + 1) } else { ("", at) })
    }

    /// What can be made of a tag that a special token cuts short, and the text behind it.
    pub(super) fn salvage(self) -> Option<(Tag, String)> {
        let (name, value) = self.text.strip_prefix(PARAMETER)?.split_once("\">")?;
        let tag = Tag::Parameter { name: name.to_owned(), form: ValueForm::Unknown };
        Some((tag, value.to_owned()))
    }
}

fn end_tag(name: &str) -> Tag {
    match name {
        "tool_calls" | "calls" | "function_calls" => Tag::EndBlock,
        "invoke" => Tag::EndInvoke,
        "parameter" => Tag::EndParameter,
        _ => Tag::Unknown,
    }
}
