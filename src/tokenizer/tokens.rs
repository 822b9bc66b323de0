//! The bytes of all tokens.

use super::tables::Merge;

/// The bytes that can be read from the start of any token.
const FRONT: usize = 16;

/// The bytes of tokens by their ids; none for ids that are not text.
#[derive(Debug)]
pub(super) struct Tokens {
    /// One token after the other, and [`FRONT`] more.
    bytes: Vec<u8>,
    /// Where each token's bytes start; one more entry than there are ids.
    starts: Vec<u32>,
}

/// Where a text token's bytes are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) id: u32,
    start: u32,
    pub(super) len: u32,
}

impl Tokens {
    /// No tokens, with room for so many.
    pub(super) fn with_capacity(count: usize) -> Self {
        // Tokens have seven bytes on average.
        let mut bytes = Vec::with_capacity(count * 8);
        bytes.resize(FRONT, 0);
        let mut starts = Vec::with_capacity(count + 1);
        starts.push(0);
        Self { bytes, starts }
    }

    /// The number of ids.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bytes of the tokens so far, and where those of the next one start.
    fn end(&self) -> usize {
        self.bytes.len() - FRONT
    }

    /// Adds the token with the next id.
    pub(super) fn push(&mut self, bytes: impl IntoIterator<Item = u8>) {
        self.bytes.truncate(self.end());
        self.bytes.extend(bytes);
        self.starts.push(self.bytes.len() as u32);
        self.bytes.resize(self.bytes.len() + FRONT, 0);
    }

    /// Adds the tokens that merges make, which have the next ids. Nothing if a part is no token that came before.
    #[inline(never)]
    pub(super) fn add(&mut self, merges: &[Merge]) -> Option<()> {
        let mut to = self.end();
        let mut end = to as u32;
        for merge in merges {
            for part in [merge.left as usize, merge.right as usize] {
                end += self.starts.get(part + 1)? - self.starts[part];
            }
            self.starts.push(end);
        }
        self.bytes.resize(end as usize + FRONT, 0);
        let (starts, bytes) = (self.starts.as_slice(), self.bytes.as_mut_slice());
        for merge in merges {
            for part in [merge.left as usize, merge.right as usize] {
                let (start, end) = (starts[part] as usize, starts[part + 1] as usize);
                copy(bytes, start, to);
                for from in (start + FRONT..end).step_by(FRONT) {
                    copy(bytes, from, to + (from - start));
                }
                to += end - start;
            }
        }
        Some(())
    }

    /// The bytes next to the border between the parts of a merge's token; any if there is no border.
    #[inline]
    pub(super) fn bytes_at_border(&self, merge: &Merge) -> [u8; 2] {
        let border = self.starts[merge.result as usize] as usize + self.token_len(merge.left);
        [border.wrapping_sub(1), border].map(|at| self.bytes.get(at).copied().unwrap_or_default())
    }

    /// The bytes of a merge's token on both sides of the border between its parts, if there are any.
    #[inline]
    pub(super) fn at_border(&self, merge: &Merge) -> Option<(&[u8], &[u8])> {
        let [start, end] = *self.starts.get(merge.result as usize..)?.first_chunk()?;
        let border = start as usize + self.token_len(merge.left);
        let is_inside = (start as usize + 1..end as usize).contains(&border);
        is_inside.then(|| (&self.bytes[start as usize..border], &self.bytes[border..end as usize]))
    }

    /// The text tokens, with their ids.
    #[inline]
    pub(super) fn spans(&self) -> impl Iterator<Item = Span> + Clone {
        let (mut id, mut start) = (0, 0);
        let next = move || {
            while let Some(&end) = self.starts.get(id as usize + 1) {
                let span = Span { id, start, len: end - start };
                (id, start) = (id + 1, end);
                if span.len > 0 {
                    return Some(span);
                }
            }
            None
        };
        std::iter::from_fn(next)
    }

    /// The bytes of a token with what follows them in memory.
    #[inline]
    pub(super) fn front_of(&self, span: Span) -> &[u8; FRONT] {
        self.bytes[span.start as usize..].first_chunk().unwrap_or(&[0; FRONT])
    }

    /// The bytes of a text token; empty for every other id.
    #[inline]
    pub(super) fn get(&self, id: u32) -> &[u8] {
        match self.starts.get(id as usize..id as usize + 2) {
            Some(&[start, end]) => &self.bytes[start as usize..end as usize],
            _ => &[],
        }
    }

    /// The number of bytes of a token; zero if it is not text.
    #[inline]
    pub(super) fn token_len(&self, id: u32) -> usize {
        (self.starts[id as usize + 1] - self.starts[id as usize]) as usize
    }

    /// The tokens of the single bytes; [`u32::MAX`] where there is none.
    pub(super) fn byte_ids(&self) -> [u32; 256] {
        let mut ids = [u32::MAX; 256];
        for span in self.spans().filter(|span| span.len == 1) {
            ids[usize::from(self.bytes[span.start as usize])] = span.id;
        }
        ids
    }
}

/// Copies many bytes at once, which is much faster than to the byte. What is too much is written over.
#[inline]
fn copy(bytes: &mut [u8], from: usize, to: usize) {
    let block: [u8; FRONT] = *bytes[from..].first_chunk().unwrap_or(&[0; FRONT]);
    if let Some(place) = bytes[to..].first_chunk_mut() {
        *place = block;
    }
}
