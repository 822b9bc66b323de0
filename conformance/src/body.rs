//! Request bodies as trees whose numbers and strings keep their spelling, so that a case can hold what a JSON
//! value cannot: duplicate keys, `-0`, `1e400`, half a surrogate pair.

use serde_json::Value;

/// A JSON text as a tree.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    Null,
    Bool(bool),
    /// A number as it is written.
    Number(String),
    String(String),
    /// Text that goes into the body as it is.
    Raw(String),
    Array(Vec<Node>),
    /// Keys may repeat.
    Object(Vec<(String, Node)>),
}

impl Node {
    /// The JSON text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(text) | Self::Raw(text) => out.push_str(text),
            Self::String(text) => out.push_str(&quoted(text)),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Self::Object(fields) => {
                out.push('{');
                for (index, (key, value)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    out.push_str(&quoted(key));
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Adds a field to an object; does nothing to other nodes.
    pub fn set(&mut self, key: &str, value: impl Into<Node>) {
        if let Self::Object(fields) = self {
            fields.push((key.to_owned(), value.into()));
        }
    }

    /// The first value under `key`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Self::Object(fields) => fields.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The number of nodes in the tree.
    pub fn size(&self) -> usize {
        match self {
            Self::Array(items) => 1 + items.iter().map(Self::size).sum::<usize>(),
            Self::Object(fields) => 1 + fields.iter().map(|(_, value)| value.size()).sum::<usize>(),
            _ => 1,
        }
    }

    /// The node at `index` in pre-order.
    pub fn at_mut(&mut self, index: usize) -> Option<&mut Node> {
        fn walk<'n>(node: &'n mut Node, left: &mut usize) -> Option<&'n mut Node> {
            if *left == 0 {
                return Some(node);
            }
            *left -= 1;
            match node {
                Node::Array(items) => items.iter_mut().find_map(|item| walk(item, left)),
                Node::Object(fields) => fields.iter_mut().find_map(|(_, value)| walk(value, left)),
                _ => None,
            }
        }
        let mut left = index;
        walk(self, &mut left)
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => Self::Number(number.to_string()),
            Value::String(text) => Self::String(text),
            Value::Array(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Value::Object(fields) => {
                Self::Object(fields.into_iter().map(|(key, value)| (key, Self::from(value))).collect())
            }
        }
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Node {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Node {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Node {
    fn from(value: u64) -> Self {
        Self::Number(value.to_string())
    }
}

impl From<i32> for Node {
    fn from(value: i32) -> Self {
        Self::Number(value.to_string())
    }
}

impl From<Vec<Node>> for Node {
    fn from(items: Vec<Node>) -> Self {
        Self::Array(items)
    }
}

/// An object node: `object! { "type": "text", "text": text }`.
#[macro_export]
macro_rules! object {
    ($($key:literal : $value:expr),* $(,)?) => {
        $crate::body::Node::Object(vec![$(($key.to_owned(), $crate::body::Node::from($value))),*])
    };
}
