//! The vocabulary in the form that `tools/vocab/make_vocab.py` writes (its layout is described there).

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::added::Added;
use super::alphabet::byte_of_printable_order;
use super::table::BLOCK;
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
    let (merges, ends) = MergeReader::new(data.take(stream_len)?, &codes, merge_count).read(merge_count)?;
    let added = read_added(&mut data)?;

    let bytes = token_bytes(&merges, &ends)?;
    Some((Tables::new(bytes, ends, merges, Words::Known).ok()?, added))
}

/// The bytes of all tokens, of which `ends` says where each id's end.
fn token_bytes(merges: &[Merge], ends: &[u32]) -> Option<Vec<u8>> {
    let mut bytes: Vec<u8> = (0..256).map(byte_of_printable_order).collect();
    bytes.resize(*ends.last()? as usize + COPIED, 0);
    let mut to = 256;
    for merges in merges.chunks(BLOCK) {
        to = add_bytes(merges, ends, &mut bytes, to)?;
    }
    bytes.truncate(to);
    Some(bytes)
}

/// Bytes are copied so many at once, which is much faster than to the byte; what is too much is written over.
const COPIED: usize = 16;

/// Writes the bytes that merges make from `to` on; returns where they end.
#[inline(never)]
fn add_bytes(merges: &[Merge], ends: &[u32], bytes: &mut [u8], mut to: usize) -> Option<usize> {
    for merge in merges {
        for part in [merge.left as usize, merge.right as usize] {
            let (start, end) = (*ends.get(part - 1)? as usize, *ends.get(part)? as usize);
            let mut from = start;
            loop {
                let block: [u8; COPIED] = *bytes.get(from..)?.first_chunk()?;
                *bytes.get_mut(to + (from - start)..)?.first_chunk_mut()? = block;
                from += COPIED;
                if from >= end {
                    break;
                }
            }
            to += end - start;
        }
    }
    Some(to)
}

/// Reads the merges, with what follows from them.
struct MergeReader<'d> {
    bits: Bits<'d>,
    codes: &'d [PrefixCode],
    /// The class of the last byte of each token, by which the code of the right token is chosen.
    classes: Vec<u8>,
    merges: Vec<Merge>,
    /// Where each id's bytes end.
    ends: Vec<u32>,
}

impl<'d> MergeReader<'d> {
    /// The number of the first token that a merge makes.
    const MADE: usize = 256;

    fn new(data: &'d [u8], codes: &'d [PrefixCode], count: usize) -> Self {
        let mut classes = vec![0; Self::MADE + count];
        for (number, class) in classes[..Self::MADE].iter_mut().enumerate() {
            *class = byte_class(byte_of_printable_order(number));
        }
        let mut ends = Vec::with_capacity(FIRST_BYTE as usize + Self::MADE + count + 1);
        ends.resize(FIRST_BYTE as usize, 0);
        ends.extend(1..=Self::MADE as u32);
        Self { bits: Bits::new(data), codes, classes, merges: Vec::with_capacity(count), ends }
    }

    fn read(mut self, count: usize) -> Option<(Vec<Merge>, Vec<u32>)> {
        while self.merges.len() < count {
            let block = self.merges.len()..(self.merges.len() + BLOCK).min(count);
            self.block(block)?;
        }
        Some((self.merges, self.ends))
    }

    #[inline(never)]
    fn block(&mut self, ranks: Range<usize>) -> Option<()> {
        let [left_code, right_codes @ ..] = self.codes else { return None };
        let mut position = self.bits.position;
        let mut end = *self.ends.last()?;
        for number in Self::MADE + ranks.start..Self::MADE + ranks.end {
            // Two numbers are at most 50 bits.
            let window = self.bits.window_at(position);
            let (left, left_len) = left_code.number(window);
            let code = right_codes.get(usize::from(*self.classes.get(left as usize)?))?;
            let (right, right_len) = code.number(window >> left_len);
            position += (left_len + right_len) as usize;
            self.classes[number] = *self.classes.get(right as usize)?;
            let (left, right) = (FIRST_BYTE + left, FIRST_BYTE + right);
            self.merges.push(Merge { left, right, result: FIRST_BYTE + number as u32 });
            end += token_len(&self.ends, left)? + token_len(&self.ends, right)?;
            self.ends.push(end);
        }
        self.bits.position = position;
        Some(())
    }
}

#[inline]
fn token_len(ends: &[u32], id: u32) -> Option<u32> {
    Some(*ends.get(id as usize)? - *ends.get(id as usize - 1)?)
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
                *entry = u16::try_from(symbol << 4).ok()? | u16::try_from(length).ok()?;
            }
            *code += 1;
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

    fn u32(&mut self) -> Option<u32> {
        let bytes = self.take(4)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*bytes))
    }
}
