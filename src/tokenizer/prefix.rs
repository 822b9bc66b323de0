//! What routers compare: common prefixes of encodings, and hashes of their blocks.

use std::num::NonZeroUsize;

use crate::token::TokenId;

/// The number of ids that two encodings have in common at their start: what a cache of keys and values can
/// reuse of one for the other.
#[must_use]
pub fn common_prefix(a: &[TokenId], b: &[TokenId]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The hashes of an encoding's full blocks of `block` ids; what is left over at the end has none.
///
/// Each hash covers all ids up to its block's end, so that equal hashes at the same place mean (but for
/// collisions of 64 bits) equal prefixes. The values are the same in every process and version: starting from
/// zero, each id makes `h = mix(h ^ (id + 1))`, where `mix` is the finalizer of SplitMix64
/// (`h += 0x9E3779B97F4A7C15`, then `h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9`,
/// `h = (h ^ h >> 27) * 0x94D049BB133111EB`, `h ^ h >> 31`, all modulo 2^64).
///
/// ```
/// use deepseek_codec::token::TokenId;
/// use deepseek_codec::tokenizer::block_hashes;
///
/// let ids = [1, 2, 3, 4, 5].map(TokenId);
/// let two = 2.try_into().unwrap();
/// assert_eq!(block_hashes(&ids, two).count(), 2);
/// assert!(block_hashes(&ids, two).eq(block_hashes(&ids[..4], two)));
/// ```
pub fn block_hashes(ids: &[TokenId], block: NonZeroUsize) -> impl Iterator<Item = u64> + '_ {
    let mut hash = 0;
    ids.chunks_exact(block.get()).map(move |block| {
        hash = block.iter().fold(hash, |hash, id| mix(hash ^ (u64::from(id.0) + 1)));
        hash
    })
}

fn mix(hash: u64) -> u64 {
    let hash = hash.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let hash = (hash ^ hash >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    hash ^ hash >> 31
}
