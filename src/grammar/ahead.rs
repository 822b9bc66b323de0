//! More than one token at a time: drafts, what is forced, and batches.

use crate::grammar::bytes::ByteSet;
use crate::grammar::machine::Thread;
use crate::grammar::matcher::Matcher;
use crate::token::TokenId;

/// How many bytes [`Matcher::forced`] looks ahead.
const MOST_FORCED: usize = 1024;

impl Matcher {
    /// Writes the masks along a draft, as speculative decoding needs them: the first is that of the place now, and
    /// each token of the draft that the grammar allows gives one more. Returns how many tokens that are; the rest of
    /// `masks` stays as it is. The matcher stays where it is.
    ///
    /// # Panics
    ///
    /// If `masks` does not have room for one mask more than the draft has tokens.
    pub fn fill_draft_masks(&mut self, draft: &[TokenId], masks: &mut [u32]) -> usize {
        let words = self.mask_words();
        assert!(masks.len() >= words * (draft.len() + 1), "one mask more than the draft has tokens");
        let mut rows = masks.chunks_exact_mut(words);
        let mut accepted = 0;
        if let Some(row) = rows.next() {
            self.fill_mask(row);
        }
        for (token, row) in draft.iter().zip(rows) {
            if self.accept(*token).is_err() {
                break;
            }
            accepted += 1;
            self.fill_mask(row);
        }
        self.rollback(accepted);
        accepted
    }

    /// Adds the tokens that must come next to `tokens`: those of the text that is the only way to go on, as the
    /// vocabulary's tokenizer cuts it. The last of them is left out if what follows it could change it. They are not
    /// accepted yet.
    ///
    /// Looks at most 1,024 bytes ahead. Where white space is free there is nothing to find between the parts of a
    /// JSON value, only inside names and constants.
    pub fn forced(&mut self, tokens: &mut Vec<TokenId>) {
        let mut bytes = Vec::new();
        let mut now = self.threads().to_vec();
        let (compiled, mark) = (self.compiled().clone(), self.mark());
        let mut next = Vec::new();
        let mut ended = false;
        while bytes.len() < MOST_FORCED {
            if now.iter().any(|thread| self.completes(*thread)) {
                ended = true;
                break;
            }
            let Some(byte) = self.only_byte(&now, &mut next) else { break };
            bytes.push(byte);
            std::mem::swap(&mut now, &mut next);
        }
        self.forget_since(mark);
        // A character that is not whole yet is not text.
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
        };
        let mut found = compiled.tokenizer().encode_text(text);
        if !(ended && text.len() == bytes.len()) {
            found.pop();
        }
        tokens.append(&mut found);
    }

    /// The byte that must come after `now`, if there is only one and no special token; `next` is then what follows.
    fn only_byte(&mut self, now: &[Thread], next: &mut Vec<Thread>) -> Option<u8> {
        let mut bytes = ByteSet::default();
        let (mut machine, specials) = self.machine();
        for thread in now {
            machine.next_bytes(*thread, false, &mut bytes);
        }
        next.clear();
        for special in specials {
            now.iter().for_each(|thread| machine.step_special(*thread, *special, next));
        }
        if !next.is_empty() {
            return None;
        }
        let mut only = None;
        for byte in bytes.iter() {
            let mark = machine.arena.mark();
            next.clear();
            machine.step_all(now, byte, next);
            machine.arena.reset(mark);
            if !next.is_empty() && only.replace(byte).is_some() {
                return None;
            }
        }
        next.clear();
        machine.step_all(now, only?, next);
        only
    }
}

/// Writes the mask of each matcher into its row of `masks`, by as many threads as rayon has.
///
/// # Panics
///
/// If `masks` does not have one mask for each matcher, or the matchers' vocabularies differ in size.
#[cfg(feature = "parallel")]
pub fn fill_masks(matchers: &mut [Matcher], masks: &mut [u32]) {
    use rayon::prelude::*;

    let Some(words) = matchers.first().map(Matcher::mask_words) else { return };
    assert_eq!(masks.len(), words * matchers.len(), "one mask for each matcher");
    // A mask that was made before costs less than handing it to a thread: several at a time.
    matchers.par_chunks_mut(4).zip(masks.par_chunks_mut(4 * words)).for_each(|(matchers, masks)| {
        for (matcher, mask) in matchers.iter_mut().zip(masks.chunks_exact_mut(words)) {
            matcher.fill_mask(mask);
        }
    });
}
