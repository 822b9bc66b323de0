//! Letters that differ in case alone: Unicode's simple case folding (CaseFolding.txt, version 16, statuses C and S).

use super::super::chars::Chars;

/// Every character whose simple case folding is that of a character of `set`.
pub(super) fn fold(set: &Chars) -> Chars {
    let mut set = set.clone();
    // A few letters have several partners, each of which is a step from the next.
    loop {
        let mut ranges = set.ranges().to_vec();
        for &(first, count, step, distance) in &PAIRS {
            let (run, distance) = ((first, u32::from(count), u32::from(step)), u32::from(distance));
            moved(&set, run, |character| character + distance, &mut ranges);
            moved(&set, (first + distance, run.1, run.2), |character| character - distance, &mut ranges);
        }
        let more = Chars::new(ranges);
        if more == set {
            return set;
        }
        set = more;
    }
}

/// Adds where `partner` takes the characters of a run that are in `set`. A run has a first character, a number of
/// characters, and a step between them.
fn moved(
    set: &Chars,
    (first, count, step): (u32, u32, u32),
    partner: impl Fn(u32) -> u32,
    ranges: &mut Vec<(u32, u32)>,
) {
    let last = first + (count - 1) * step;
    let begin = set.ranges().partition_point(|range| range.1 < first);
    for &(low, high) in set.ranges()[begin..].iter().take_while(|range| range.0 <= last) {
        let low = first + (low.max(first) - first).next_multiple_of(step);
        let high = high.min(last);
        if step == 1 {
            ranges.push((partner(low), partner(high)));
        } else {
            let characters = (low..=high).step_by(step as usize);
            ranges.extend(characters.map(|character| (partner(character), partner(character))));
        }
    }
}

/// Runs of characters that have a partner: the first one, how many there are, the step from one to the next, and how
/// far above each its partner is.
#[rustfmt::skip]
const PAIRS: [(u32, u16, u8, u16); 209] = [
    (0x0041, 26, 1, 32), (0x006B, 1, 1, 8383), (0x0073, 1, 1, 268), (0x00B5, 1, 1, 743),
    (0x00C0, 23, 1, 32), (0x00D8, 7, 1, 32), (0x00DF, 1, 1, 7615), (0x00E5, 1, 1, 8262),
    (0x00FF, 1, 1, 121), (0x0100, 24, 2, 1), (0x0132, 3, 2, 1), (0x0139, 8, 2, 1), (0x014A, 23, 2, 1),
    (0x0179, 3, 2, 1), (0x0180, 1, 1, 195), (0x0181, 1, 1, 210), (0x0182, 2, 2, 1), (0x0186, 1, 1, 206),
    (0x0187, 1, 1, 1), (0x0189, 2, 1, 205), (0x018B, 1, 1, 1), (0x018E, 1, 1, 79), (0x018F, 1, 1, 202),
    (0x0190, 1, 1, 203), (0x0191, 1, 1, 1), (0x0193, 1, 1, 205), (0x0194, 1, 1, 207), (0x0195, 1, 1, 97),
    (0x0196, 1, 1, 211), (0x0197, 1, 1, 209), (0x0198, 1, 1, 1), (0x019A, 1, 1, 163), (0x019B, 1, 1, 42561),
    (0x019C, 1, 1, 211), (0x019D, 1, 1, 213), (0x019E, 1, 1, 130), (0x019F, 1, 1, 214), (0x01A0, 3, 2, 1),
    (0x01A6, 1, 1, 218), (0x01A7, 1, 1, 1), (0x01A9, 1, 1, 218), (0x01AC, 1, 1, 1), (0x01AE, 1, 1, 218),
    (0x01AF, 1, 1, 1), (0x01B1, 2, 1, 217), (0x01B3, 2, 2, 1), (0x01B7, 1, 1, 219), (0x01B8, 1, 1, 1),
    (0x01BC, 1, 1, 1), (0x01BF, 1, 1, 56), (0x01C4, 2, 1, 1), (0x01C7, 2, 1, 1), (0x01CA, 2, 1, 1),
    (0x01CD, 8, 2, 1), (0x01DE, 9, 2, 1), (0x01F1, 2, 1, 1), (0x01F4, 1, 1, 1), (0x01F8, 20, 2, 1),
    (0x0222, 9, 2, 1), (0x023A, 1, 1, 10795), (0x023B, 1, 1, 1), (0x023E, 1, 1, 10792),
    (0x023F, 2, 1, 10815), (0x0241, 1, 1, 1), (0x0244, 1, 1, 69), (0x0245, 1, 1, 71), (0x0246, 5, 2, 1),
    (0x0250, 1, 1, 10783), (0x0251, 1, 1, 10780), (0x0252, 1, 1, 10782), (0x025C, 1, 1, 42319),
    (0x0261, 1, 1, 42315), (0x0264, 1, 1, 42343), (0x0265, 1, 1, 42280), (0x0266, 1, 1, 42308),
    (0x026A, 1, 1, 42308), (0x026B, 1, 1, 10743), (0x026C, 1, 1, 42305), (0x0271, 1, 1, 10749),
    (0x027D, 1, 1, 10727), (0x0282, 1, 1, 42307), (0x0287, 1, 1, 42282), (0x029D, 1, 1, 42261),
    (0x029E, 1, 1, 42258), (0x0345, 1, 1, 84), (0x0370, 2, 2, 1), (0x0376, 1, 1, 1), (0x037B, 3, 1, 130),
    (0x037F, 1, 1, 116), (0x0386, 1, 1, 38), (0x0388, 3, 1, 37), (0x038C, 1, 1, 64), (0x038E, 2, 1, 63),
    (0x0390, 1, 1, 7235), (0x0391, 17, 1, 32), (0x03A3, 1, 1, 31), (0x03A4, 8, 1, 32), (0x03B0, 1, 1, 7219),
    (0x03B2, 1, 1, 30), (0x03B5, 1, 1, 64), (0x03B8, 1, 1, 25), (0x03B9, 1, 1, 7173), (0x03BA, 1, 1, 54),
    (0x03C0, 1, 1, 22), (0x03C1, 1, 1, 48), (0x03C2, 1, 1, 1), (0x03C6, 1, 1, 15), (0x03C9, 1, 1, 7517),
    (0x03CF, 1, 1, 8), (0x03D1, 1, 1, 35), (0x03D8, 12, 2, 1), (0x03F2, 1, 1, 7), (0x03F7, 1, 1, 1),
    (0x03FA, 1, 1, 1), (0x0400, 16, 1, 80), (0x0410, 32, 1, 32), (0x0432, 1, 1, 6222), (0x0434, 1, 1, 6221),
    (0x043E, 1, 1, 6212), (0x0441, 2, 1, 6210), (0x044A, 1, 1, 6204), (0x0460, 17, 2, 1),
    (0x0463, 1, 1, 6180), (0x048A, 27, 2, 1), (0x04C0, 1, 1, 15), (0x04C1, 7, 2, 1), (0x04D0, 48, 2, 1),
    (0x0531, 38, 1, 48), (0x10A0, 38, 1, 7264), (0x10C7, 1, 1, 7264), (0x10CD, 1, 1, 7264),
    (0x10D0, 43, 1, 3008), (0x10FD, 3, 1, 3008), (0x13A0, 80, 1, 38864), (0x13F0, 6, 1, 8),
    (0x1C84, 1, 1, 1), (0x1C88, 1, 1, 35266), (0x1C89, 1, 1, 1), (0x1D79, 1, 1, 35332),
    (0x1D7D, 1, 1, 3814), (0x1D8E, 1, 1, 35384), (0x1E00, 75, 2, 1), (0x1E61, 1, 1, 58), (0x1EA0, 48, 2, 1),
    (0x1F00, 8, 1, 8), (0x1F10, 6, 1, 8), (0x1F20, 8, 1, 8), (0x1F30, 8, 1, 8), (0x1F40, 6, 1, 8),
    (0x1F51, 4, 2, 8), (0x1F60, 8, 1, 8), (0x1F70, 2, 1, 74), (0x1F72, 4, 1, 86), (0x1F76, 2, 1, 100),
    (0x1F78, 2, 1, 128), (0x1F7A, 2, 1, 112), (0x1F7C, 2, 1, 126), (0x1F80, 8, 1, 8), (0x1F90, 8, 1, 8),
    (0x1FA0, 8, 1, 8), (0x1FB0, 2, 1, 8), (0x1FB3, 1, 1, 9), (0x1FC3, 1, 1, 9), (0x1FD0, 2, 1, 8),
    (0x1FE0, 2, 1, 8), (0x1FE5, 1, 1, 7), (0x1FF3, 1, 1, 9), (0x2132, 1, 1, 28), (0x2160, 16, 1, 16),
    (0x2183, 1, 1, 1), (0x24B6, 26, 1, 26), (0x2C00, 48, 1, 48), (0x2C60, 1, 1, 1), (0x2C67, 3, 2, 1),
    (0x2C72, 1, 1, 1), (0x2C75, 1, 1, 1), (0x2C80, 50, 2, 1), (0x2CEB, 2, 2, 1), (0x2CF2, 1, 1, 1),
    (0xA640, 23, 2, 1), (0xA680, 14, 2, 1), (0xA722, 7, 2, 1), (0xA732, 31, 2, 1), (0xA779, 2, 2, 1),
    (0xA77E, 5, 2, 1), (0xA78B, 1, 1, 1), (0xA790, 2, 2, 1), (0xA794, 1, 1, 48), (0xA796, 10, 2, 1),
    (0xA7B3, 1, 1, 928), (0xA7B4, 8, 2, 1), (0xA7C7, 2, 2, 1), (0xA7CC, 1, 1, 1), (0xA7D0, 1, 1, 1),
    (0xA7D6, 3, 2, 1), (0xA7F5, 1, 1, 1), (0xFB05, 1, 1, 1), (0xFF21, 26, 1, 32), (0x10400, 40, 1, 40),
    (0x104B0, 36, 1, 40), (0x10570, 11, 1, 39), (0x1057C, 15, 1, 39), (0x1058C, 7, 1, 39),
    (0x10594, 2, 1, 39), (0x10C80, 51, 1, 64), (0x10D50, 22, 1, 32), (0x118A0, 32, 1, 32),
    (0x16E40, 32, 1, 32), (0x1E900, 34, 1, 34),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

    use super::*;

    /// The same by crate `regex-syntax`, character by character.
    fn twin(set: &Chars) -> Chars {
        let range = |&(low, high): &(u32, u32)| {
            Some(ClassUnicodeRange::new(char::from_u32(low)?, char::from_u32(high)?))
        };
        let mut class = ClassUnicode::new(set.ranges().iter().filter_map(range));
        class.case_fold_simple();
        Chars::new(class.ranges().iter().map(|range| (range.start() as u32, range.end() as u32)))
    }

    #[test]
    fn each_character_has_the_partners_that_another_crate_knows() {
        let mut folding = 0;
        for character in ('\0'..='\u{1FFFF}').map(Chars::one) {
            let folded = fold(&character);
            assert_eq!(folded, twin(&character));
            folding += usize::from(folded != character);
        }
        assert!(folding > 2_800, "only {folding} characters have partners");
        let others = Chars::new([(0x2_0000, 0x10_FFFF)]);
        assert_eq!((fold(&others), twin(&others)), (others.clone(), others));
    }

    proptest! {
        #[test]
        fn sets_fold_as_another_crate_folds_them(
            ranges in proptest::collection::vec((0u32..0x1_F000, 0u32..200), 0..12),
        ) {
            let set = Chars::new(ranges.into_iter().map(|(low, length)| (low, low + length)));
            prop_assert_eq!(fold(&set), twin(&set));
        }
    }
}
