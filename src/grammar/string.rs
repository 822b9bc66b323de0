//! The body of a JSON string: escapes on top of a language of decoded text.

use crate::grammar::language::Language;

/// No completion is possible from here.
pub(super) const DEAD: u32 = 0;

/// A place in a text that is being read: in a word of a language, or in an object's key.
pub(super) trait Place<Of>: Copy {
    /// The place after one byte of decoded text, unless nothing goes on like that.
    fn next(self, of: &Of, byte: u8) -> Option<Self>;

    /// Whether the text may end here.
    fn is_complete(self, of: &Of) -> bool;

    /// The place after a character.
    fn after(self, of: &Of, character: char) -> Option<Self> {
        character.encode_utf8(&mut [0; 4]).bytes().try_fold(self, |place, byte| place.next(of, byte))
    }

    /// Whether the text goes on with one of the characters from `low` to `high`.
    fn goes_on_with(self, of: &Of, low: u32, high: u32) -> bool {
        let mut next = low;
        while next <= high {
            let Some(character) = char::from_u32(next) else {
                next = 0xE000;
                continue;
            };
            let mut place = Some(self);
            let mut bytes = [0; 4];
            let bytes = character.encode_utf8(&mut bytes).as_bytes();
            let mut read = 0;
            while let (Some(here), Some(&byte)) = (place, bytes.get(read)) {
                place = here.next(of, byte);
                read += 1;
            }
            if place.is_some() {
                return true;
            }
            // All characters that share the bytes read so far fail like this one.
            let alike = 1 << (6 * (bytes.len() - read));
            next = (next / alike + 1) * alike;
        }
        false
    }
}

/// A place in a word of a [`Language`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Cursor {
    /// The language's state.
    pub(super) state: u32,
    /// How many characters have begun, where the language counts them; else 0.
    pub(super) chars: u32,
    /// A hash of the text, where somebody compares it; else 0.
    pub(super) hash: u64,
}

/// The hash of an empty text, for [`Cursor::hash`] and keys.
pub(super) const EMPTY_HASH: u64 = 0xCBF2_9CE4_8422_2325;

/// The hash of a text and one more byte.
#[inline]
pub(super) const fn hash_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01B3)
}

impl Cursor {
    pub(super) fn start(language: &Language, hashed: bool) -> Self {
        Self { state: language.start(), chars: 0, hash: if hashed { EMPTY_HASH } else { 0 } }
    }
}

impl Place<Language> for Cursor {
    #[inline]
    fn next(self, language: &Language, byte: u8) -> Option<Self> {
        let state = language.next(self.state, byte);
        if state == DEAD {
            return None;
        }
        let hash = if self.hash == 0 { 0 } else { hash_byte(self.hash, byte) };
        if !language.counts() {
            return Some(Self { state, chars: 0, hash });
        }
        // A character is counted with its first byte.
        let mut chars = self.chars + u32::from(byte & 0xC0 != 0x80);
        match language.max_chars() {
            Some(max) if chars + language.distance(state) > max => return None,
            Some(_) => {}
            // Beyond the fewest, nobody asks how many there are: one place for all of them.
            None => chars = chars.min(language.min_chars()),
        }
        Some(Self { state, chars, hash })
    }

    #[inline]
    fn is_complete(self, language: &Language) -> bool {
        language.is_accepting(self.state) && self.chars >= language.min_chars()
    }
}

/// How far an escape sequence has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) enum Escape {
    /// Between characters or inside a plain one.
    #[default]
    None,
    /// After a backslash.
    Backslash,
    /// After `\u` and some digits.
    Hex {
        /// How many digits.
        digits: u8,
        /// Their value.
        value: u16,
        /// The first half of a surrogate pair that came before, or 0.
        high: u16,
    },
    /// After the first half of a surrogate pair; `backslash` tells whether its second half has begun.
    High {
        /// The first half.
        high: u16,
        /// Whether the backslash has been read.
        backslash: bool,
    },
}

/// What a byte does to a string's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Body<P> {
    /// The body goes on.
    On(P, Escape),
    /// The quote that ends it.
    End,
    /// The byte cannot stand here.
    Dead,
}

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// As the body of a JSON string.
    String,
    /// As it is.
    Word,
}

impl Form {
    /// One byte of a text in this form.
    #[inline]
    pub(super) fn step<Of, P: Place<Of>>(self, of: &Of, place: P, escape: Escape, byte: u8) -> Body<P> {
        match self {
            Self::String => body(of, place, escape, byte),
            Self::Word => place.next(of, byte).map_or(Body::Dead, |next| Body::On(next, Escape::None)),
        }
    }

    /// The place after `bytes`, if the text goes on with all of them.
    pub(super) fn read<Of, P: Place<Of>>(
        self,
        of: &Of,
        place: P,
        escape: Escape,
        bytes: &[u8],
    ) -> Option<(P, Escape)> {
        bytes.iter().try_fold((place, escape), |(place, escape), byte| {
            match self.step(of, place, escape, *byte) {
                Body::On(place, escape) => Some((place, escape)),
                Body::End | Body::Dead => None,
            }
        })
    }
}

/// One byte of a string's body in its JSON form.
#[inline]
pub(super) fn body<Of, P: Place<Of>>(of: &Of, place: P, escape: Escape, byte: u8) -> Body<P> {
    if escape == Escape::None {
        return match byte {
            b'"' if place.is_complete(of) => Body::End,
            b'\\' if may_escape(of, place) => Body::On(place, Escape::Backslash),
            b'"' | b'\\' | 0..0x20 => Body::Dead,
            _ => match place.next(of, byte) {
                Some(next) => Body::On(next, Escape::None),
                None => Body::Dead,
            },
        };
    }
    escaped(of, place, escape, byte)
}

/// Whether an escape can begin: only where the next character may be one that JSON writers escape. So no name and no
/// constant of plain letters is ever spelled `\u0061`.
fn may_escape<Of, P: Place<Of>>(of: &Of, place: P) -> bool {
    // Inside a character there is no place for one.
    let begins = |byte| place.next(of, byte).is_some();
    [b'"', b'\\', b'/', b'\n', b'\t', b'\r', 0x00, 0x08, 0x0B, 0x0C, 0x1F, 0x7F].into_iter().any(begins)
        || (0xC2..=0xF4).any(begins)
}

fn escaped<Of, P: Place<Of>>(of: &Of, place: P, escape: Escape, byte: u8) -> Body<P> {
    let after = |character| match place.after(of, character) {
        Some(next) => Body::On(next, Escape::None),
        None => Body::Dead,
    };
    match (escape, byte) {
        (Escape::Backslash, b'"' | b'\\' | b'/') => after(char::from(byte)),
        (Escape::Backslash, b'b') => after('\u{8}'),
        (Escape::Backslash, b'f') => after('\u{C}'),
        (Escape::Backslash, b'n') => after('\n'),
        (Escape::Backslash, b'r') => after('\r'),
        (Escape::Backslash, b't') => after('\t'),
        (Escape::Backslash, b'u') => Body::On(place, Escape::Hex { digits: 0, value: 0, high: 0 }),
        (Escape::High { high, backslash: false }, b'\\') => {
            Body::On(place, Escape::High { high, backslash: true })
        }
        (Escape::High { high, backslash: true }, b'u') => {
            Body::On(place, Escape::Hex { digits: 0, value: 0, high })
        }
        (Escape::Hex { digits, value, high }, _) => match char::from(byte).to_digit(16) {
            Some(digit) => hex(of, place, digits + 1, value << 4 | digit as u16, high),
            None => Body::Dead,
        },
        _ => Body::Dead,
    }
}

/// After a digit of a `\u` escape.
fn hex<Of, P: Place<Of>>(of: &Of, place: P, digits: u8, value: u16, high: u16) -> Body<P> {
    let open = 4 * u32::from(4 - digits);
    let (low, up) = (u32::from(value) << open, (u32::from(value) << open) + (1 << open) - 1);
    let on = Body::On(place, Escape::Hex { digits, value, high });
    if high != 0 {
        // The second half of a pair: DC00 to DFFF.
        let (low, up) = (low.max(0xDC00), up.min(0xDFFF));
        let character = |half: u32| 0x1_0000 + ((u32::from(high) - 0xD800) << 10) + (half - 0xDC00);
        return match digits {
            _ if low > up => Body::Dead,
            4 => match char::from_u32(character(low)).and_then(|character| place.after(of, character)) {
                Some(next) => Body::On(next, Escape::None),
                None => Body::Dead,
            },
            _ if place.goes_on_with(of, character(low), character(up)) => on,
            _ => Body::Dead,
        };
    }
    let pairs = |from: u32, to: u32| {
        let (from, to) = (from.max(0xD800), to.min(0xDBFF));
        // Beyond the basic plane all that matters to most languages is the first byte.
        from <= to
            && place.goes_on_with(
                of,
                0x1_0000 + ((from - 0xD800) << 10),
                0x1_0000 + ((to - 0xD800) << 10) + 0x3FF,
            )
    };
    if digits < 4 {
        return if place.goes_on_with(of, low, up) || pairs(low, up) { on } else { Body::Dead };
    }
    match char::from_u32(low) {
        Some(character) => match place.after(of, character) {
            Some(next) => Body::On(next, Escape::None),
            None => Body::Dead,
        },
        None if pairs(low, low) => Body::On(place, Escape::High { high: value, backslash: false }),
        None => Body::Dead,
    }
}
