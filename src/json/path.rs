//! Places in a JSON document, as people write them: `messages[3].content[1]`.

use std::fmt;

/// A place in a JSON document: a chain of steps that lives on the stack of the code that walks the document, so
/// that walking costs nothing until a place is named.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'p> {
    Root,
    Key(&'p Self, &'p str),
    Index(&'p Self, usize),
}

impl<'p> Path<'p> {
    pub(crate) const fn key(&'p self, key: &'p str) -> Self {
        Path::Key(self, key)
    }

    pub(crate) const fn index(&'p self, index: usize) -> Self {
        Path::Index(self, index)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(parent, key) => {
                parent.fmt(f)?;
                fmt_key(f, matches!(parent, Path::Root), key)
            }
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Writes one key step: `.name`, or `["odd name"]` where a bare name could be misread.
fn fmt_key(f: &mut fmt::Formatter<'_>, first: bool, key: &str) -> fmt::Result {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$');
    if !key.is_empty() && key.bytes().all(plain) {
        f.write_str(if first { "" } else { "." })?;
        f.write_str(key)
    } else {
        write!(f, "[{}]", super::Json::from(key))
    }
}

/// A place that is kept: the steps from the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Steps(pub(super) Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) => fmt_key(f, depth == 0, key)?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
