//! The two long lists of a tokenizer file, read into one buffer each instead of a string an entry.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The vocabulary in file order: spelling and id.
#[derive(Default)]
pub(super) struct VocabList {
    text: String,
    /// Where each spelling ends, and its id.
    entries: Vec<(usize, u32)>,
}

impl VocabList {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        let mut start = 0;
        self.entries.iter().map(move |(end, id)| {
            let spelling = &self.text[std::mem::replace(&mut start, *end)..*end];
            (spelling, *id)
        })
    }
}

/// The merges in order: the spellings of the left and the right token.
#[derive(Default)]
pub(super) struct MergeList {
    text: String,
    entries: Vec<(Range<usize>, Range<usize>)>,
}

impl MergeList {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(left, right)| (&self.text[left.clone()], &self.text[right.clone()]))
    }
}

impl<'de> serde::Deserialize<'de> for VocabList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = VocabList;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from tokens to ids")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<VocabList, A::Error> {
                let mut list = VocabList::default();
                while map.next_key_seed(Append(&mut list.text))?.is_some() {
                    list.entries.push((list.text.len(), map.next_value()?));
                }
                Ok(list)
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

impl<'de> serde::Deserialize<'de> for MergeList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = MergeList;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of merges")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<MergeList, A::Error> {
                let mut list = MergeList::default();
                while seq.next_element_seed(AppendMerge(&mut list))?.is_some() {}
                Ok(list)
            }
        }

        deserializer.deserialize_seq(Entries)
    }
}

/// Reads a string and appends it to the buffer.
struct Append<'b>(&'b mut String);

impl<'de> DeserializeSeed<'de> for Append<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Append<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a token")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.push_str(text);
        Ok(())
    }
}

/// Reads one merge, `"left right"` or `["left", "right"]`.
struct AppendMerge<'l>(&'l mut MergeList);

impl<'de> DeserializeSeed<'de> for AppendMerge<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AppendMerge<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("two tokens, in a list or with a space between them")
    }

    fn visit_str<E: Error>(self, merge: &str) -> Result<(), E> {
        let Some((left, right)) = merge.split_once(' ').filter(|(_, right)| !right.contains(' ')) else {
            return Err(E::invalid_value(serde::de::Unexpected::Str(merge), &self));
        };
        self.0.push(left, right);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let list = self.0;
        let start = list.text.len();
        let mut ends = [start; 2];
        for (count, end) in ends.iter_mut().enumerate() {
            if seq.next_element_seed(Append(&mut list.text))?.is_none() {
                return Err(A::Error::invalid_length(count, &"two tokens"));
            }
            *end = list.text.len();
        }
        if seq.next_element::<serde::de::IgnoredAny>()?.is_some() {
            return Err(A::Error::invalid_length(3, &"two tokens"));
        }
        list.entries.push((start..ends[0], ends[0]..ends[1]));
        Ok(())
    }
}

impl MergeList {
    fn push(&mut self, left: &str, right: &str) {
        let start = self.text.len();
        self.text.push_str(left);
        let middle = self.text.len();
        self.text.push_str(right);
        self.entries.push((start..middle, middle..self.text.len()));
    }
}
