//! The vocabulary in the form that `tools/vocab/make_vocab.py` writes (its layout is described there).

use std::fmt;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::added::Added;
use super::alphabet::byte_of_printable_order;
use super::tables::{Merge, Tables, Words};
use super::{LoadError, LoadErrorKind, Tokenizer, Vocabulary};

/// The first 256 ids after the special tokens at the front are the single bytes.
const FIRST_BYTE: u32 = 3;
const EXACT_BITS: u32 = 11;
const EXACT: usize = 1 << (EXACT_BITS - 1);
const SYMBOLS: usize = EXACT + 8 * (17 - EXACT_BITS as usize + 1);
const LONGEST_CODE: u32 = 12;
const CODES: usize = 5;

/// What [`BaseVocabulary::read`] accepts: XXH3 of the file.
const FILE_HASH: u64 = 0xd8e3_1eed_5d07_af0e;

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
    let stream_len = data.u32()? as usize;
    let merges = read_merges(Bits::new(data.take(stream_len)?), &codes, merge_count)?;
    let added = read_added(&mut data)?;

    let (bytes, ends) = token_bytes(&merges)?;
    Some((Tables::new(bytes, ends, merges, Words::Known).ok()?, added))
}

/// The bytes of all tokens, and where each id's end.
fn token_bytes(merges: &[Merge]) -> Option<(Vec<u8>, Vec<u32>)> {
    let mut ends: Vec<u32> = Vec::with_capacity(FIRST_BYTE as usize + 256 + merges.len() + 1);
    ends.resize(FIRST_BYTE as usize, 0);
    ends.extend(1..=256);
    let mut len = 256;
    for merge in merges {
        let token_len = |id: u32| Some(*ends.get(id as usize)? - *ends.get(id as usize - 1)?);
        len += token_len(merge.left)? + token_len(merge.right)?;
        ends.push(len);
    }
    // Copied in blocks, which is much faster than to the byte; what a block holds too much is written over.
    const BLOCK: usize = 16;
    let mut bytes: Vec<u8> = (0..256).map(byte_of_printable_order).collect();
    bytes.resize(len as usize + BLOCK, 0);
    let mut to = 256;
    for merge in merges {
        for part in [merge.left as usize, merge.right as usize] {
            let (start, end) = (*ends.get(part - 1)? as usize, *ends.get(part)? as usize);
            let mut from = start;
            loop {
                let block: [u8; BLOCK] = *bytes.get(from..)?.first_chunk()?;
                *bytes.get_mut(to + (from - start)..)?.first_chunk_mut()? = block;
                from += BLOCK;
                if from >= end {
                    break;
                }
            }
            to += end - start;
        }
    }
    bytes.truncate(to);
    Some((bytes, ends))
}

fn read_merges(mut bits: Bits<'_>, codes: &[PrefixCode], count: usize) -> Option<Vec<Merge>> {
    let [left_code, right_codes @ ..] = codes else { return None };
    let mut merges = Vec::with_capacity(count);
    // The class of the last byte of each token, by which the code of the right token is chosen.
    let mut classes = vec![0; 256 + count];
    for (number, class) in classes[..256].iter_mut().enumerate() {
        *class = byte_class(byte_of_printable_order(number));
    }
    for number in 256..classes.len() {
        // Two numbers are at most 50 bits.
        let window = bits.window();
        let (left, left_len) = left_code.number(window);
        let code = right_codes.get(usize::from(*classes.get(left as usize)?))?;
        let (right, right_len) = code.number(window >> left_len);
        bits.position += (left_len + right_len) as usize;
        let class = *classes.get(right as usize)?;
        classes[number] = class;
        let result = FIRST_BYTE + number as u32;
        merges.push(Merge { left: FIRST_BYTE + left, right: FIRST_BYTE + right, result });
    }
    Some(merges)
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
    /// The symbol above the four bits of its code's length.
    entries: Box<[u16; 1 << LONGEST_CODE]>,
}

impl PrefixCode {
    fn new(nibbles: &[u8]) -> Option<Self> {
        let lengths: Vec<u32> =
            nibbles.iter().flat_map(|byte| [byte & 15, byte >> 4]).map(u32::from).collect();
        let mut entries = Box::new([0; 1 << LONGEST_CODE]);
        let mut code = 0u32;
        for length in 1..=LONGEST_CODE {
            for (symbol, _) in lengths.iter().enumerate().filter(|(_, own)| **own == length) {
                let first = (code.reverse_bits() >> (32 - length)) as usize;
                for entry in entries.get_mut(first..)?.iter_mut().step_by(1 << length) {
                    *entry = u16::try_from(symbol << 4).ok()? | u16::try_from(length).ok()?;
                }
                code += 1;
            }
            code <<= 1;
        }
        Some(Self { entries })
    }

    /// The number at the front of the stream, and its number of bits.
    #[inline]
    fn number(&self, window: u64) -> (u32, u32) {
        let entry = self.entries[window as usize & ((1 << LONGEST_CODE) - 1)];
        let (symbol, length) = (u32::from(entry >> 4), u32::from(entry & 15));
        if symbol < EXACT as u32 {
            return (symbol, length);
        }
        let (group, top) = ((symbol - EXACT as u32) / 8, (symbol - EXACT as u32) % 8 + 8);
        let low_bits = group + EXACT_BITS - 4;
        let low = (window >> length) as u32 & ((1 << low_bits) - 1);
        (top << low_bits | low, length + low_bits)
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

    /// At least 56 bits from the position on.
    #[inline]
    fn window(&self) -> u64 {
        let rest = self.data.get(self.position / 8..).unwrap_or_default();
        let word = match rest.first_chunk::<8>() {
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        word >> (self.position % 8)
    }
}

struct Reader<'d>(&'d [u8]);

impl<'d> Reader<'d> {
    fn take(&mut self, len: usize) -> Option<&'d [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        let bytes = self.take(4)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*bytes))
    }
}
