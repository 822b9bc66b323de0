//! Sets of characters, and how several sets divide all characters.

/// The last code point.
const LAST: u32 = 0x10_FFFF;
/// The code points between these are surrogates, which are not characters.
const SURROGATES: (u32, u32) = (0xD800, 0xDFFF);

/// Sorted ranges of code points that neither overlap nor touch. Surrogates are in no set.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Chars {
    ranges: Vec<(u32, u32)>,
}

impl Chars {
    pub(super) fn new(ranges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut ranges: Vec<(u32, u32)> = ranges.into_iter().collect();
        ranges.sort_unstable();
        let mut set = Self { ranges: Vec::with_capacity(ranges.len()) };
        for (low, high) in ranges {
            if low < SURROGATES.0 && high >= SURROGATES.0 {
                set.push(low, SURROGATES.0 - 1);
                set.push(low.max(SURROGATES.1 + 1), high);
            } else if (SURROGATES.0..=SURROGATES.1).contains(&low) {
                set.push(SURROGATES.1 + 1, high);
            } else {
                set.push(low, high);
            }
        }
        set
    }

    /// Adds a range that begins no earlier than the last one.
    fn push(&mut self, low: u32, high: u32) {
        match self.ranges.last_mut() {
            _ if low > high => {}
            Some(last) if low <= last.1.saturating_add(1) => last.1 = last.1.max(high),
            _ => self.ranges.push((low, high)),
        }
    }

    pub(super) fn all() -> Self {
        Self::new([(0, LAST)])
    }

    pub(super) fn one(character: char) -> Self {
        Self { ranges: vec![(character as u32, character as u32)] }
    }

    pub(super) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    pub(super) fn not(&self) -> Self {
        let mut gaps = Vec::with_capacity(self.ranges.len() + 1);
        let mut from = 0;
        for &(low, high) in &self.ranges {
            if low > from {
                gaps.push((from, low - 1));
            }
            from = high + 1;
        }
        if from <= LAST {
            gaps.push((from, LAST));
        }
        Self::new(gaps)
    }

    pub(super) fn or(&self, other: &Self) -> Self {
        Self::new(self.ranges.iter().chain(&other.ranges).copied())
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        self.not().or(&other.not()).not()
    }
}

/// A division of all characters into classes, such that each of some sets is a union of classes.
pub(super) struct Classes {
    /// Where each stretch of characters of one class begins, in order; the first begins at 0. Surrogates are given
    /// to any class.
    pub(super) starts: Vec<u32>,
    /// The class of each stretch.
    pub(super) class: Vec<u16>,
    /// The number of classes.
    pub(super) count: usize,
    /// For each set its classes.
    pub(super) members: Vec<Vec<u16>>,
}

impl Classes {
    /// Divides by `sets`. Takes time in `n log n` of all ranges.
    pub(super) fn new(sets: &[Chars]) -> Self {
        // Each set changes its answer at its borders.
        let mut borders: Vec<(u32, u16)> = Vec::new();
        for (index, set) in sets.iter().enumerate() {
            let index = u16::try_from(index).unwrap_or(u16::MAX);
            for &(low, high) in set.ranges() {
                borders.push((low, index));
                borders.push((high + 1, index));
            }
        }
        borders.sort_unstable();
        let words = sets.len().div_ceil(64).max(1);
        let mut inside = vec![0u64; words];
        let mut signatures: Vec<u64> = Vec::new();
        let mut seen: super::hash::Map<Box<[u64]>, u16> = super::hash::Map::default();
        let mut classes = Self { starts: Vec::new(), class: Vec::new(), count: 0, members: Vec::new() };
        let mut at = 0;
        let mut from = 0;
        while from <= LAST {
            while at < borders.len() && borders[at].0 == from {
                let set = borders[at].1 as usize;
                inside[set / 64] ^= 1 << (set % 64);
                at += 1;
            }
            let to = borders.get(at).map_or(LAST + 1, |border| border.0.min(LAST + 1));
            // A stretch of surrogates alone belongs to the stretch before it.
            if !(from >= SURROGATES.0 && to <= SURROGATES.1 + 1) {
                let class = *seen.entry(inside.clone().into_boxed_slice()).or_insert_with(|| {
                    signatures.extend_from_slice(&inside);
                    classes.count += 1;
                    u16::try_from(classes.count - 1).unwrap_or(u16::MAX)
                });
                if classes.class.last() != Some(&class) {
                    classes.starts.push(from);
                    classes.class.push(class);
                }
            }
            from = to;
        }
        classes.members = (0..sets.len())
            .map(|set| {
                let has = |class: &usize| signatures[class * words + set / 64] >> (set % 64) & 1 == 1;
                (0..classes.count).filter(has).map(|class| u16::try_from(class).unwrap_or(u16::MAX)).collect()
            })
            .collect();
        classes
    }
}
