//! Pre-tokens of ASCII text, 64 bytes at a time.
//!
//! A window of 64 bytes that begins where a pre-token begins becomes one bit mask for each class, and a few
//! operations on masks give the places where pre-tokens start. What is left of the window does not matter then:
//! the expressions look at nothing before a match. What is right of it can matter; only the places that it
//! cannot move are given.

/// The bytes of a window that are looked at.
pub(super) const WINDOW: usize = 64;

/// One bit for each byte of a window, the first byte lowest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Masks {
    /// `[A-Za-z]`
    letters: u64,
    /// `[0-9]`
    digits: u64,
    /// The other printable characters but the space.
    punctuation: u64,
    /// `[\t\n\v\f\r ]`
    spaces: u64,
    /// `[\r\n]`
    line_ends: u64,
    /// The space itself.
    blanks: u64,
    /// Bytes from 0x80.
    non_ascii: u64,
}

impl Masks {
    /// The number of ASCII bytes at the front of the window.
    pub(super) fn ascii_len(&self) -> u32 {
        self.non_ascii.trailing_zeros()
    }

    /// The places where pre-tokens start, as far as they are certain when `len` bytes of the window are known.
    ///
    /// The first place must be the start of a pre-token, and `len` at most [`Masks::ascii_len`]. The last
    /// place of the result starts a pre-token whose end is not known.
    pub(super) fn starts(&self, len: u32) -> u64 {
        let known = u64::MAX.checked_shr(WINDOW as u32 - len).unwrap_or(0);
        let letters = self.letters & known;
        let digits = self.digits & known;
        let punctuation = self.punctuation & known;
        let line_ends = self.line_ends & known;
        let blanks = self.blanks & known;
        let other = known & !(letters | digits | punctuation | self.spaces);

        // Line ends that follow punctuation belong to it; adding a bit to the start of a run clears the run.
        let after_punctuation = line_ends & (punctuation << 1);
        let taken = line_ends & !line_ends.wrapping_add(after_punctuation);
        let spaces = self.spaces & known & !taken;
        let inline = spaces & !line_ends;

        // A blank before punctuation belongs to it.
        let free_punctuation = punctuation & !(punctuation << 1) & !(blanks << 1);
        // One space that is no line end, one other character or one punctuation mark begins a word.
        let begins_word = (inline | other | free_punctuation) << 1;
        let mut starts = free_punctuation
            | (letters & !(letters << 1) & !begins_word)
            | (spaces & !(spaces << 1))
            | (other & (!(other << 1) | (letters >> 1)));
        // The last space is left for what follows, unless that is a number.
        starts |= inline & !(spaces >> 1) & !(digits >> 1);
        starts |= after_line_ends(inline, line_ends);
        starts |= triples(digits);

        // White space up to the edge of what is known can go on, and then end anywhere.
        if spaces & known & !(known >> 1) != 0 {
            let run = WINDOW as u32 - (known & !spaces).leading_zeros();
            starts &= u64::MAX.checked_shr(WINDOW as u32 - 1 - run).unwrap_or(0);
        }
        starts
    }
}

/// The starts of runs of other white space that follow a line end, but not those with a line end behind them.
fn after_line_ends(inline: u64, line_ends: u64) -> u64 {
    let mut starts = inline & (line_ends << 1);
    let mut inner = inline & (line_ends >> 1);
    while inner != 0 {
        let last = inner.trailing_zeros();
        let before = !inline & ((1 << last) - 1);
        let first = WINDOW as u32 - before.leading_zeros();
        starts &= !(1 << first);
        inner &= inner - 1;
    }
    starts
}

/// Every third digit of a run, from its first.
fn triples(digits: u64) -> u64 {
    let mut found = digits & !(digits << 1);
    let mut starts = found;
    let fourth = digits & (digits << 1) & (digits << 2) & (digits << 3);
    if fourth != 0 {
        while found != 0 {
            found = (found << 3) & fourth;
            starts |= found;
        }
    }
    starts
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = ONES << 7;

/// The masks of a window: eight bytes at a time in plain 64-bit words. Vector instructions save 4 % of an encoding's
/// instructions on x86-64 and no measurable time, which is not worth their `unsafe`.
pub(super) fn masks(window: &[u8; WINDOW]) -> Masks {
    let mut masks = Masks::default();
    let (words, _) = window.as_chunks::<8>();
    for (place, word) in words.iter().enumerate() {
        let all = u64::from_le_bytes(*word);
        let word = all & !HIGH;
        let ascii = !all & HIGH;
        let letter = within(word | (ONES << 5), b'a', b'z');
        let digit = within(word, b'0', b'9');
        let blank = within(word, b' ', b' ');
        let bits = |mask: u64| gather(mask & ascii) << (8 * place);
        masks.letters |= bits(letter);
        masks.digits |= bits(digit);
        masks.punctuation |= bits(within(word, 0x21, 0x7E) & !letter & !digit);
        masks.spaces |= bits(within(word, b'\t', b'\r') | blank);
        masks.line_ends |= bits(within(word, b'\n', b'\n') | within(word, b'\r', b'\r'));
        masks.blanks |= bits(blank);
        masks.non_ascii |= gather(all & HIGH) << (8 * place);
    }
    masks
}

/// The high bit of each byte that lies in a range of ASCII; all bytes must be ASCII.
fn within(word: u64, first: u8, last: u8) -> u64 {
    let from = |byte: u8| word + ONES * u64::from(0x80 - byte);
    from(first) & !from(last + 1) & HIGH
}

/// The high bits of eight bytes as the lowest eight bits.
fn gather(mask: u64) -> u64 {
    ((mask >> 7).wrapping_mul(0x0102_0408_1020_4080)) >> 56
}

/// The masks of a window, byte by byte: the slow twin.
#[cfg(test)]
pub(super) fn slow_masks(window: &[u8; WINDOW]) -> Masks {
    let mut masks = Masks::default();
    for (place, byte) in window.iter().enumerate() {
        let bit = |is: bool| u64::from(is) << place;
        masks.letters |= bit(byte.is_ascii_alphabetic());
        masks.digits |= bit(byte.is_ascii_digit());
        masks.punctuation |= bit(byte.is_ascii_punctuation());
        masks.spaces |= bit(matches!(byte, b'\t'..=b'\r' | b' '));
        masks.line_ends |= bit(matches!(byte, b'\r' | b'\n'));
        masks.blanks |= bit(*byte == b' ');
        masks.non_ascii |= bit(!byte.is_ascii());
    }
    masks
}
