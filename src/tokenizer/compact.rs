//! The vocabulary in the form that `tools/vocab/make_vocab.py` writes (its layout is described there).

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::added::Added;
use super::alphabet::byte_of_printable_order;
use super::pairs::Pairs;
use super::table::BLOCK;
use super::tables::{Merge, Merging, Tables, Words};
use super::tokens::Tokens;
use super::{LoadError, LoadErrorKind, Tokenizer, Vocabulary};

/// The first 256 ids after the special tokens at the front are the single bytes.
const FIRST_BYTE: u32 = 3;
const EXACT_BITS: u32 = 11;
const EXACT: usize = 1 << (EXACT_BITS - 1);
const SYMBOLS: usize = EXACT + 8 * (17 - EXACT_BITS as usize + 1);
const LONGEST_CODE: u32 = 12;
const CODES: usize = 6;

/// What [`BaseVocabulary::read`] accepts: XXH3 of the file.
const FILE_HASH: u64 = 0x9c1b_455d_f694_8d19;

/// The vocabulary that all model versions share, from which the tokenizer of each is made.
///
/// With the feature `vocab` it is inside the crate. Without it, this reads the crate's file
/// `src/tokenizer/vocab/deepseek.bin`, which is a twentieth of a tokenizer.json: for programs that are sent over a
/// network and fetch it on their own.
#[derive(Clone)]
pub struct BaseVocabulary {
    tables: Arc<Tables>,
    added: Vec<(u32, String)>,
}

impl BaseVocabulary {
    /// The vocabulary inside the crate.
    #[cfg(feature = "vocab")]
    pub(super) fn embedded() -> Self {
        static DATA: &[u8] = include_bytes!("vocab/deepseek.bin");
        Self::decode(DATA).expect("the embedded vocabulary is the file that the generator wrote")
    }

    /// Reads the file.
    ///
    /// # Errors
    ///
    /// If it is not the file of this version of the crate, to the byte.
    pub fn read(file: &[u8]) -> Result<Self, LoadError> {
        let decoded = if xxh3_64(file) == FILE_HASH { Self::decode(file) } else { None };
        decoded.ok_or_else(|| {
            LoadError::new(LoadErrorKind::Vocabulary, "not the vocabulary of this version of the crate")
        })
    }

    /// The tokenizer of a model version.
    #[must_use]
    pub fn tokenizer(&self, version: &Vocabulary) -> Tokenizer {
        Tokenizer::new(Arc::clone(&self.tables), Added::of_version(self.added.clone(), version))
    }

    fn decode(file: &[u8]) -> Option<Self> {
        let (tables, added) = read(file)?;
        Some(Self { tables: Arc::new(tables), added })
    }
}

impl fmt::Debug for BaseVocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BaseVocabulary").finish_non_exhaustive()
    }
}

/// The tables of the vocabulary and its added tokens, ascending by id.
fn read(data: &[u8]) -> Option<(Tables, Vec<(u32, String)>)> {
    let mut data = Reader(data);
    let merge_count = data.u32()? as usize;
    let mut codes = Vec::with_capacity(CODES);
    for _ in 0..CODES {
        codes.push(PrefixCode::new(data.take(SYMBOLS / 2)?)?);
    }
    let [left, right @ .., pilot] = &*codes else { return None };
    let mut reader = MergeReader::new(data.bits()?, data.bits()?, left, right, merge_count);
    let pilots = read_pilots(data.bits()?, pilot, Pairs::groups(merge_count));
    let added = read_added(&mut data)?;

    let made = FIRST_BYTE + MADE as u32;
    let mut tokens = Tokens::with_capacity(made as usize + merge_count);
    (0..FIRST_BYTE).for_each(|_| tokens.push([]));
    (0..MADE).for_each(|number| tokens.push([byte_of_printable_order(number)]));
    let mut merging = Merging::new(&tokens, Pairs::with_pilots(merge_count, made, pilots)?, true);
    let mut block = Vec::with_capacity(BLOCK);
    for first in (0..merge_count).step_by(BLOCK) {
        block.clear();
        reader.block(MADE + first..MADE + (first + BLOCK).min(merge_count), &mut block)?;
        tokens.add(&block)?;
        merging.add(&tokens, &block);
    }
    Some((Tables::new(tokens, merging, Words::Known).ok()?, added))
}

fn read_pilots(mut bits: Bits<'_>, code: &PrefixCode, count: usize) -> Box<[u16]> {
    let mut pilots = Vec::with_capacity(count);
    while pilots.len() < count {
        let block = BLOCK.min(count - pilots.len());
        code.numbers(&mut bits, block, &mut pilots);
    }
    pilots.into_boxed_slice()
}

/// Reads the merges. Left and right tokens come from streams of their own, so that the processor need not wait for one
/// to read the other.
struct MergeReader<'d> {
    left: Bits<'d>,
    right: Bits<'d>,
    left_code: &'d PrefixCode,
    right_codes: &'d [PrefixCode],
    /// The class of the last byte of each token, by which the code of the right token is chosen.
    classes: Vec<u8>,
}

/// The number of the first token that a merge makes.
const MADE: usize = 256;

impl<'d> MergeReader<'d> {
    fn new(
        left: Bits<'d>,
        right: Bits<'d>,
        left_code: &'d PrefixCode,
        right_codes: &'d [PrefixCode],
        count: usize,
    ) -> Self {
        let mut classes = vec![0; MADE + count];
        for (number, class) in classes[..MADE].iter_mut().enumerate() {
            *class = byte_class(byte_of_printable_order(number));
        }
        Self { left, right, left_code, right_codes, classes }
    }

    /// Reads the merges that make the tokens with these numbers.
    #[inline(never)]
    fn block(&mut self, numbers: Range<usize>, merges: &mut Vec<Merge>) -> Option<()> {
        let (mut left_at, mut right_at) = (self.left.position, self.right.position);
        for first in numbers.clone().step_by(2) {
            // Two numbers are at most 50 bits.
            let mut left_window = self.left.window_at(left_at);
            let mut right_window = self.right.window_at(right_at);
            for number in first..(first + 2).min(numbers.end) {
                let (left, len) = self.left_code.number(left_window);
                (left_window, left_at) = (left_window >> len, left_at + len as usize);
                let code = self.right_codes.get(usize::from(*self.classes.get(left as usize)?))?;
                let (right, len) = code.number(right_window);
                (right_window, right_at) = (right_window >> len, right_at + len as usize);
                self.classes[number] = *self.classes.get(right as usize)?;
                let (left, right) = (FIRST_BYTE + left, FIRST_BYTE + right);
                merges.push(Merge { left, right, result: FIRST_BYTE + number as u32 });
            }
        }
        (self.left.position, self.right.position) = (left_at, right_at);
        Some(())
    }
}

fn byte_class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        0x80.. => 2,
        _ => 3,
    }
}

fn read_added(data: &mut Reader<'_>) -> Option<Vec<(u32, String)>> {
    let run_count = data.u32()? as usize;
    let mut ids = Vec::new();
    for _ in 0..run_count {
        let first = data.u32()?;
        ids.extend(first..first + data.u32()?);
    }
    let mut added = Vec::with_capacity(ids.len());
    let mut spelling: Vec<u8> = Vec::new();
    for id in ids {
        let [shared, rest] = *data.take(2)? else { return None };
        spelling.truncate(usize::from(shared));
        spelling.extend_from_slice(data.take(usize::from(rest))?);
        added.push((id, String::from_utf8(spelling.clone()).ok()?));
    }
    Some(added)
}

/// A canonical prefix code as a table over the next [`LONGEST_CODE`] bits of the stream.
struct PrefixCode {
    /// The least number of the symbol, above the number of bits that follow its code and that of the code's own.
    entries: Box<[u32; 1 << LONGEST_CODE]>,
}

impl PrefixCode {
    #[inline(never)]
    fn new(nibbles: &[u8]) -> Option<Self> {
        let lengths: Vec<u32> =
            nibbles.iter().flat_map(|byte| [byte & 15, byte >> 4]).map(u32::from).collect();
        // The next code of each length: those of one length follow each other in the order of their symbols.
        let mut counts = [0u32; 16];
        lengths.iter().for_each(|length| counts[*length as usize] += 1);
        counts[0] = 0;
        let mut codes = [0u32; 16];
        for length in 1..=LONGEST_CODE as usize {
            codes[length] = (codes[length - 1] + counts[length - 1]) << 1;
        }
        let mut entries = Box::new([0; 1 << LONGEST_CODE]);
        for (symbol, &length) in
            lengths.iter().enumerate().filter(|(_, length)| (1..=LONGEST_CODE).contains(length))
        {
            let code = &mut codes[length as usize];
            let first = (code.reverse_bits() >> (32 - length)) as usize;
            for entry in entries.get_mut(first..)?.iter_mut().step_by(1 << length) {
                *entry = symbol_entry(symbol as u32) | length;
            }
            *code += 1;
        }
        Some(Self { entries })
    }

    /// Appends so many numbers from the front of the stream.
    #[inline(never)]
    fn numbers(&self, bits: &mut Bits<'_>, count: usize, numbers: &mut Vec<u16>) {
        let mut position = bits.position;
        numbers.extend((0..count).map(|_| {
            let (number, len) = self.number(bits.window_at(position));
            position += len as usize;
            number as u16
        }));
        bits.position = position;
    }

    /// The number at the front of the stream, and its number of bits.
    #[inline]
    fn number(&self, window: u64) -> (u32, u32) {
        let entry = self.entries[window as usize & ((1 << LONGEST_CODE) - 1)];
        let (least, low_bits, length) = (entry >> 8, entry >> 4 & 15, entry & 15);
        let low = (window >> length) as u32 & ((1 << low_bits) - 1);
        (least + low, length + low_bits)
    }
}

/// What an entry holds of a symbol.
fn symbol_entry(symbol: u32) -> u32 {
    match symbol.checked_sub(EXACT as u32) {
        None => symbol << 8,
        Some(number) => {
            let low_bits = number / 8 + EXACT_BITS - 4;
            (number % 8 + 8) << low_bits << 8 | low_bits << 4
        }
    }
}

/// Reads bits from the lowest up; zeros follow the end.
struct Bits<'d> {
    data: &'d [u8],
    position: usize,
}

impl<'d> Bits<'d> {
    fn new(data: &'d [u8]) -> Self {
        Self { data, position: 0 }
    }

    /// At least 56 bits from a position on.
    #[inline]
    fn window_at(&self, position: usize) -> u64 {
        let rest = self.data.get(position / 8..).unwrap_or_default();
        let word = match rest.first_chunk::<8>() {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        word >> (position % 8)
    }
}

struct Reader<'d>(&'d [u8]);

impl<'d> Reader<'d> {
    fn take(&mut self, len: usize) -> Option<&'d [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// A bit stream after its length.
    fn bits(&mut self) -> Option<Bits<'d>> {
        let len = self.u32()?;
        Some(Bits::new(self.take(len as usize)?))
    }

    fn u32(&mut self) -> Option<u32> {
        let bytes = self.take(4)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*bytes))
    }
}
