//! The vocabulary's tokens as tries over their bytes: the one thing that all grammars share.

use std::collections::HashMap;

use crate::grammar::contents::Chars;
use crate::token::TokenId;

/// A node of a [`Trie`].
pub(super) type Node = u32;

/// The root of every trie.
pub(super) const ROOT: Node = 0;

/// Where this much hangs below a node, most of it begins with bytes that cannot come.
pub(super) const MANY_CHILDREN: u32 = 12;

/// A trie in preorder: the nodes of a subtree are neighbours, and so are the entries below it.
#[derive(Debug, Default)]
pub(super) struct Trie {
    /// The byte that leads to each node.
    bytes: Vec<u8>,
    /// The node after each node's subtree.
    ends: Vec<Node>,
    /// Each node's first entry; one more at the end.
    firsts: Vec<u32>,
    /// What stands at the nodes, in the order of the nodes.
    entries: Vec<u32>,
    /// For each node, the places in UTF-8 (a bit each) from which every word below goes on as text.
    text_below: Vec<u8>,
    /// For each node, the ASCII bytes below it.
    ascii_below: Vec<u128>,
    /// For each node, the bytes below it that begin other characters, from 0xC0 on.
    leads_below: Vec<u64>,
    /// The nodes below the root, by byte; [`ROOT`] where there is none.
    roots: Vec<Node>,
}

impl Trie {
    /// The trie of `words`: sorted byte strings, each with its entry. Equal words share a node.
    pub(super) fn new<'w>(words: impl IntoIterator<Item = (&'w [u8], u32)>) -> Self {
        let mut trie = Self { bytes: vec![0], ends: vec![0], firsts: vec![0], ..Self::default() };
        let mut parents: Vec<Node> = vec![ROOT];
        let mut path: Vec<Node> = vec![ROOT];
        let mut last: &[u8] = &[];
        for (word, entry) in words {
            let shared = word.iter().zip(last).take_while(|(a, b)| a == b).count();
            trie.close(&mut path, shared + 1);
            for &byte in &word[shared..] {
                parents.push(path[path.len() - 1]);
                path.push(trie.bytes.len() as Node);
                trie.bytes.push(byte);
                trie.ends.push(0);
                trie.firsts.push(trie.entries.len() as u32);
            }
            trie.entries.push(entry);
            last = word;
        }
        trie.close(&mut path, 0);
        trie.firsts.push(trie.entries.len() as u32);
        trie.look_below(&parents);
        let mut roots = vec![ROOT; 256];
        for child in trie.children(ROOT) {
            roots[trie.byte(child) as usize] = child;
        }
        trie.roots = roots;
        trie
    }

    /// Fills in what stands below each node.
    fn look_below(&mut self, parents: &[Node]) {
        // For each byte, the places in UTF-8 where it cannot stand, and where it leads from each of the others.
        let steps: Vec<(u8, [u8; 8])> = (0..=255)
            .map(|byte| {
                let mut steps = (0, [0; 8]);
                for place in Utf8::ALL {
                    match place.next(byte) {
                        Some(next) => steps.1[place as usize] = next as u8,
                        None => steps.0 |= 1 << place as u8,
                    }
                }
                steps
            })
            .collect();
        self.text_below = vec![0xFF; self.len()];
        self.ascii_below = vec![0; self.len()];
        self.leads_below = vec![0; self.len()];
        // Children come after their parents: each takes away from its parent's places, and adds its bytes.
        for node in (1..self.len()).rev() {
            let (byte, parent) = (self.bytes[node], parents[node] as usize);
            let (dead, next) = &steps[byte as usize];
            let text = self.text_below[node];
            let mut fails = *dead;
            if text != 0xFF {
                for (place, next) in next.iter().enumerate() {
                    fails |= ((text >> next & 1) ^ 1) << place;
                }
            }
            self.text_below[parent] &= !fails;
            self.ascii_below[parent] |= self.ascii_below[node] | if byte < 0x80 { 1 << byte } else { 0 };
            self.leads_below[parent] |=
                self.leads_below[node] | if byte >= 0xC0 { 1 << (byte - 0xC0) } else { 0 };
        }
    }

    /// Whether every word below `node` goes on between characters as text made of these characters: ASCII, and others
    /// by their first byte, from 0xC0 on.
    pub(super) fn is_text_below(&self, node: Node, ascii: u128, leads: u64) -> bool {
        let node = node as usize;
        self.ascii_below[node] & !ascii == 0
            && self.leads_below[node] & !leads == 0
            && self.text_below[node] >> Utf8::Whole as u8 & 1 == 1
    }

    /// Whether a word below `node` has one of these characters in what stands below.
    pub(super) fn has_below(&self, node: Node, chars: Chars) -> bool {
        self.ascii_below[node as usize] & chars.ascii != 0
            || self.leads_below[node as usize] & chars.leads != 0
    }

    /// The ASCII bytes of all words below `node`.
    pub(super) fn ascii_below(&self, node: Node) -> u128 {
        self.ascii_below[node as usize]
    }

    /// Whether every word below `node` goes on as plain text of a JSON string from between two characters.
    pub(super) fn is_plain_below(&self, node: Node) -> bool {
        self.is_text_below(node, PLAIN_ASCII, u64::MAX)
    }

    /// The node that `byte` leads to from the root; [`ROOT`] if there is none.
    pub(super) fn root_child(&self, byte: u8) -> Node {
        self.roots[byte as usize]
    }

    /// Ends the nodes of `path` from the `kept`th on.
    fn close(&mut self, path: &mut Vec<Node>, kept: usize) {
        let end = self.bytes.len() as Node;
        for node in path.drain(kept.min(path.len())..) {
            self.ends[node as usize] = end;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn byte(&self, node: Node) -> u8 {
        self.bytes[node as usize]
    }

    /// The node after the subtree of `node`: its next sibling, if it has one.
    pub(super) fn end(&self, node: Node) -> Node {
        self.ends[node as usize]
    }

    /// What stands at `node` itself.
    pub(super) fn entries(&self, node: Node) -> &[u32] {
        let node = node as usize;
        // The next node in preorder is the first child or the next sibling: either way, its entries come next.
        &self.entries[self.firsts[node] as usize..self.firsts[node + 1] as usize]
    }

    /// What stands at `node` and below.
    pub(super) fn entries_below(&self, node: Node) -> &[u32] {
        &self.entries[self.firsts[node as usize] as usize..self.firsts[self.end(node) as usize] as usize]
    }

    /// The node that `byte` leads to from `node`.
    pub(super) fn child(&self, node: Node, byte: u8) -> Option<Node> {
        if node == ROOT {
            return Some(self.root_child(byte)).filter(|child| *child != ROOT);
        }
        self.children(node).find(|child| self.byte(*child) >= byte).filter(|child| self.byte(*child) == byte)
    }

    pub(super) fn children(&self, node: Node) -> impl Iterator<Item = Node> {
        let end = self.end(node);
        let mut next = node + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.end(child);
            Some(child)
        })
    }
}

/// Sorts tokens by their bytes.
///
/// Runs that are sorted already are kept, and most tokens differ in their first eight bytes, which are compared as one
/// number.
fn sort_by_bytes(tokens: &mut Vec<(&[u8], u32)>) {
    let mut keyed: Vec<(u64, &[u8], u32)> =
        tokens.iter().map(|(bytes, entry)| (leading(bytes), *bytes, *entry)).collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1)));
    tokens.clear();
    tokens.extend(keyed.into_iter().map(|(_, bytes, entry)| (bytes, entry)));
}

/// The same for tokens in no order: first by their first two bytes, which leaves little to compare.
fn sort_by_bytes_from_any_order(tokens: &mut Vec<(&[u8], u32)>) {
    let start = |bytes: &[u8]| leading(bytes) >> 48;
    let mut places = vec![0_u32; 0x1_0001];
    for (bytes, _) in &*tokens {
        places[start(bytes) as usize + 1] += 1;
    }
    for at in 1..places.len() {
        places[at] += places[at - 1];
    }
    let mut sorted = tokens.clone();
    for token in &*tokens {
        let place = &mut places[start(token.0) as usize];
        sorted[*place as usize] = *token;
        *place += 1;
    }
    // Each place is now the end of its tokens.
    let mut from = 0;
    for &to in &places[..0x1_0000] {
        let to = to as usize;
        if to > from + 1 {
            sorted[from..to].sort_unstable();
        }
        from = to;
    }
    *tokens = sorted;
}

fn leading(bytes: &[u8]) -> u64 {
    let mut key = [0; 8];
    let length = bytes.len().min(8);
    key[..length].copy_from_slice(&bytes[..length]);
    u64::from_be_bytes(key)
}

/// A place inside UTF-8 text: what the next bytes must be for the character to become whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Utf8 {
    /// Between characters.
    Whole,
    /// One continuation byte to come.
    One,
    /// Two continuation bytes to come.
    Two,
    /// Three continuation bytes to come.
    Three,
    /// After E0: two, without overlong forms.
    AfterE0,
    /// After ED: two, without surrogates.
    AfterEd,
    /// After F0: three, without overlong forms.
    AfterF0,
    /// After F4: three, up to U+10FFFF.
    AfterF4,
}

impl Utf8 {
    const ALL: [Self; 8] = [
        Self::Whole,
        Self::One,
        Self::Two,
        Self::Three,
        Self::AfterE0,
        Self::AfterEd,
        Self::AfterF0,
        Self::AfterF4,
    ];

    /// The place after `byte`, or nothing where it cannot stand.
    pub(super) const fn next(self, byte: u8) -> Option<Self> {
        match (self, byte) {
            (Self::Whole, 0x00..=0x7F) | (Self::One, 0x80..=0xBF) => Some(Self::Whole),
            (Self::Whole, 0xC2..=0xDF) | (Self::Two, 0x80..=0xBF) => Some(Self::One),
            (Self::AfterE0, 0xA0..=0xBF) | (Self::AfterEd, 0x80..=0x9F) => Some(Self::One),
            (Self::Whole, 0xE0) => Some(Self::AfterE0),
            (Self::Whole, 0xED) => Some(Self::AfterEd),
            (Self::Whole, 0xE1..=0xEF) | (Self::Three, 0x80..=0xBF) => Some(Self::Two),
            (Self::AfterF0, 0x90..=0xBF) | (Self::AfterF4, 0x80..=0x8F) => Some(Self::Two),
            (Self::Whole, 0xF0) => Some(Self::AfterF0),
            (Self::Whole, 0xF1..=0xF3) => Some(Self::Three),
            (Self::Whole, 0xF4) => Some(Self::AfterF4),
            _ => None,
        }
    }
}

/// The ASCII characters that stand in the body of a JSON string as they are: all but the quote, the backslash and
/// controls.
pub(super) const PLAIN_ASCII: u128 = !(((1 << 0x20) - 1) | (1 << b'"') | (1 << b'\\'));

/// Where a JSON string body goes on as plain text.
const fn plain(place: Utf8, byte: u8) -> Option<Utf8> {
    if byte < 0x80 && PLAIN_ASCII >> byte & 1 == 0 { None } else { place.next(byte) }
}

/// A token that holds the end of a JSON string: the text before the first quote that no backslash escapes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Closing {
    /// The token.
    pub(super) token: TokenId,
    /// Where in its bytes the string begins or goes on.
    pub(super) start: u32,
    /// Where the quote stands.
    pub(super) quote: u32,
    /// Whether these are plain text, which any free string goes on with.
    pub(super) plain: bool,
    /// Equal for tokens that have the same text before the quote; below [`TokenTrie::befores`].
    pub(super) before_id: u32,
}

impl Closing {
    /// What stands before the quote.
    pub(super) fn before(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..self.quote as usize]
    }
}

/// Tokens that hold the end of a string.
#[derive(Debug)]
pub(super) struct Closings {
    /// Where they stand in `tokens`, by what follows the quote.
    pub(super) after: Trie,
    pub(super) tokens: Vec<Closing>,
}

impl Closings {
    /// Those of `words` that hold the end of a string, which begins or goes on after as many bytes as `start` says.
    fn new<'w>(
        words: &[(&'w [u8], u32)],
        start: impl Fn(&[u8]) -> Option<usize>,
        befores: &mut HashMap<&'w [u8], u32>,
    ) -> Self {
        let (mut tokens, mut afters) = (Vec::new(), Vec::new());
        for (word, id) in words {
            let Some(start) = start(word) else { continue };
            let Some(length) = first_quote(&word[start..]) else { continue };
            let before = &word[start..start + length];
            let next = befores.len() as u32;
            let plain = before.iter().try_fold(Utf8::Whole, |place, byte| plain(place, *byte));
            afters.push((&word[start + length + 1..], tokens.len() as u32));
            tokens.push(Closing {
                token: TokenId(*id),
                start: start as u32,
                quote: (start + length) as u32,
                plain: plain == Some(Utf8::Whole),
                before_id: *befores.entry(before).or_insert(next),
            });
        }
        sort_by_bytes(&mut afters);
        Self { after: Trie::new(afters), tokens }
    }
}

/// The tokens of one vocabulary, arranged for the matcher.
#[derive(Debug)]
pub(super) struct TokenTrie {
    /// All tokens by their bytes.
    pub(super) tokens: Trie,
    /// All tokens by what follows their leading white space.
    pub(super) unspaced: Trie,
    /// The tokens that go on inside a string and hold its end.
    pub(super) closing: Closings,
    /// The tokens that hold a whole string, white space in front.
    pub(super) whole: Closings,
    /// How many different texts stand before their quotes.
    pub(super) befores: u32,
    bytes: Vec<u8>,
    starts: Vec<u32>,
}

impl TokenTrie {
    /// The tries of the tokens whose bytes `token_bytes` gives; tokens that are not text have none.
    pub(super) fn new<'v>(length: usize, token_bytes: impl Fn(TokenId) -> Option<&'v [u8]>) -> Self {
        let mut words: Vec<(&[u8], u32)> =
            (0..length as u32).filter_map(|id| Some((token_bytes(TokenId(id))?, id))).collect();
        let mut bytes = Vec::new();
        let mut starts = Vec::with_capacity(length + 1);
        for id in 0..length as u32 {
            starts.push(bytes.len() as u32);
            bytes.extend_from_slice(token_bytes(TokenId(id)).unwrap_or_default());
        }
        starts.push(bytes.len() as u32);

        let mut befores = HashMap::new();
        let closing = Closings::new(&words, |_| Some(0), &mut befores);
        let opened = |word: &[u8]| {
            let space = leading_space(word);
            (word.get(space) == Some(&b'"')).then_some(space + 1)
        };
        let whole = Closings::new(&words, opened, &mut befores);
        let befores = befores.len() as u32;

        sort_by_bytes_from_any_order(&mut words);
        // The tokens with the same white space in front stay sorted without it.
        let mut spaced: Vec<(usize, &[u8], u32)> =
            words.iter().map(|(word, id)| (leading_space(word), *word, *id)).collect();
        spaced.sort_by(|a, b| a.1[..a.0].cmp(&b.1[..b.0]));
        let mut unspaced: Vec<(&[u8], u32)> =
            spaced.iter().map(|(space, word, id)| (&word[*space..], *id)).collect();
        sort_by_bytes(&mut unspaced);
        let unspaced = Trie::new(unspaced);
        let tokens = Trie::new(words);
        Self { tokens, unspaced, closing, whole, befores, bytes, starts }
    }

    /// The number of ids: the length of a mask in bits.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bytes of a token; none for tokens that are not text.
    pub(super) fn token_bytes(&self, id: TokenId) -> &[u8] {
        let range = self.starts.get(id.index()).zip(self.starts.get(id.index() + 1));
        range.map_or(&[], |(start, end)| &self.bytes[*start as usize..*end as usize])
    }
}

fn leading_space(word: &[u8]) -> usize {
    word.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count()
}

/// The place of the first quote that no backslash escapes.
fn first_quote(word: &[u8]) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in word.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}
