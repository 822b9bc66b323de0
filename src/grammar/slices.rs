//! Sets of tokens that nearly every grammar needs: those that go on inside free text.

use std::sync::{Arc, OnceLock};

use crate::grammar::language::Language;
use crate::grammar::mask::{TokenSet, mask_words, set};
use crate::grammar::string::{Body, Cursor, Escape, Place, body};
use crate::grammar::trie::{Node, ROOT, TokenTrie};

/// The sets of one vocabulary.
#[derive(Debug)]
pub(super) struct Slices {
    /// The tokens that go on inside a JSON string of any text.
    string: TokenSet,
    /// The tokens that go on inside a text of any kind.
    word: TokenSet,
    /// The tokens of `string` with at least one character, by how many characters begin in them: those with `n` are
    /// `counted[starts[n]..starts[n + 1]]`.
    counted: Vec<u32>,
    starts: Vec<u32>,
    /// For each token of `string`, how many characters begin in it, up to 254; 255 for other tokens.
    chars: Vec<u8>,
    /// For each number of characters, the tokens of `string` with no more.
    ladder: Vec<OnceLock<TokenSet>>,
}

impl Slices {
    pub(super) fn new(trie: &TokenTrie) -> Self {
        let words = mask_words(trie.len());
        let any = Language::any();
        let (mut string, mut word) = (vec![0; words], vec![0; words]);
        let mut by_chars: Vec<Vec<u32>> = Vec::new();
        let tokens = &trie.tokens;
        // How many characters have begun on the way to each open node.
        let mut path: Vec<Step> = vec![Step {
            end: tokens.end(ROOT),
            string: Some((Cursor::start(&any, false), Escape::None)),
            word: Some(Cursor::start(&any, false)),
            chars: 0,
        }];
        let mut node = ROOT + 1;
        while node < tokens.end(ROOT) {
            while path.last().is_some_and(|step| step.end <= node) {
                path.pop();
            }
            let Some(before) = path.last() else { break };
            let byte = tokens.byte(node);
            let step = Step {
                end: tokens.end(node),
                string: before.string.and_then(|(cursor, escape)| match body(&any, cursor, escape, byte) {
                    Body::On(cursor, escape) => Some((cursor, escape)),
                    Body::End | Body::Dead => None,
                }),
                word: before.word.and_then(|cursor| cursor.next(&any, byte)),
                chars: before.chars,
            };
            if step.string.is_none() && step.word.is_none() {
                node = step.end;
                continue;
            }
            // A plain character begins with its first byte, one that is escaped with the backslash.
            let was_plain = matches!(before.string, Some((_, Escape::None)));
            let chars = before.chars + u32::from(was_plain && byte & 0xC0 != 0x80);
            for &token in tokens.entries(node) {
                if step.string.is_some() {
                    set(&mut string, token);
                    if by_chars.len() <= chars as usize {
                        by_chars.resize(chars as usize + 1, Vec::new());
                    }
                    by_chars[chars as usize].push(token);
                }
                if step.word.is_some() {
                    set(&mut word, token);
                }
            }
            path.push(Step { chars, ..step });
            node += 1;
        }
        let (mut counted, mut starts) = (Vec::new(), vec![0]);
        let mut chars = vec![u8::MAX; trie.len()];
        for (number, tokens) in by_chars.into_iter().enumerate() {
            for token in &tokens {
                chars[*token as usize] = number.min(254) as u8;
            }
            counted.extend(tokens);
            starts.push(counted.len() as u32);
        }
        let ladder = (1..starts.len()).map(|_| OnceLock::new()).collect();
        Self {
            string: TokenSet::Bits(string.into()),
            word: TokenSet::Bits(word.into()),
            counted,
            starts,
            chars,
            ladder,
        }
    }

    /// The tokens that go on inside a JSON string of any text.
    pub(super) fn string(&self) -> TokenSet {
        self.string.clone()
    }

    /// The tokens that go on inside a text of any kind.
    pub(super) fn word(&self) -> TokenSet {
        self.word.clone()
    }

    /// How many characters begin in a token of [`string`](Self::string); nothing for other tokens and very long ones.
    pub(super) fn chars(&self, token: u32) -> Option<u32> {
        Some(self.chars[token as usize].into()).filter(|chars| *chars < 254)
    }

    /// How many characters begin in the longest token.
    pub(super) fn longest(&self) -> u32 {
        self.ladder.len() as u32
    }

    /// The tokens of [`string`](Self::string) in which more than `chars` characters begin.
    pub(super) fn string_beyond(&self, chars: u32) -> TokenSet {
        let from = self.starts.get(chars as usize + 1).map_or(self.counted.len(), |start| *start as usize);
        TokenSet::new(&self.counted[from..], mask_words(self.chars.len()))
    }

    /// The tokens of [`string`](Self::string) in which at most `chars` characters begin.
    pub(super) fn string_up_to(&self, chars: u32) -> TokenSet {
        let Some(rung) = self.ladder.get(chars as usize) else { return self.string() };
        let made = rung.get_or_init(|| {
            let TokenSet::Bits(all) = &self.string else { return self.string() };
            let cut = self.starts[chars as usize + 1] as usize;
            // Whichever is shorter: the tokens that fit, or those that do not.
            if cut < self.counted.len() / 2 {
                return TokenSet::new(&self.counted[..cut], all.len());
            }
            let mut bits = all.to_vec();
            for token in &self.counted[cut..] {
                bits[*token as usize / 32] &= !(1 << (token % 32));
            }
            TokenSet::Bits(bits.into())
        });
        made.clone()
    }
}

/// A node on the way down, and what it is inside a free string and a free text.
struct Step {
    end: Node,
    string: Option<(Cursor, Escape)>,
    word: Option<Cursor>,
    chars: u32,
}

/// Tokens in which a number ends and something else begins; most vocabularies have none.
pub(super) fn number_crossings(trie: &TokenTrie) -> Arc<[u32]> {
    let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    (0..trie.len() as u32)
        .filter(|id| {
            let bytes = trie.token_bytes(crate::token::TokenId(*id));
            let space = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
            let number = bytes[space..].iter().take_while(|byte| is_number(byte)).count();
            number > 0 && space + number < bytes.len() && bytes[space + number - 1].is_ascii_digit()
        })
        .collect()
}
