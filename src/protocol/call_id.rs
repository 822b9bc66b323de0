//! Ids of generated tool calls: `call_{index:02}_`, `ET_` if the turn had no reasoning, 20 random letters and
//! digits, and a checksum of four digits.

use xxhash_rust::xxh3::xxh3_64;

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The id of the call `index`. The same `seed` gives the same id.
pub(super) fn call_id(seed: u64, index: usize, without_reasoning: bool) -> String {
    let mark = if without_reasoning { "ET_" } else { "" };
    let mut id = format!("call_{index:02}_{mark}");
    let mut state = seed ^ (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for _ in 0..20 {
        let place = next(&mut state) % ALPHABET.len() as u64;
        id.push(char::from(ALPHABET[usize::try_from(place).unwrap_or_default()]));
    }
    let without_underscores: String = id.chars().filter(|&c| c != '_').collect();
    let checksum = xxh3_64(without_underscores.as_bytes()) % 10_000;
    format!("{id}{checksum:04}")
}

/// `SplitMix64`.
const fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut value = *state;
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_official_form() {
        let id = call_id(7, 3, true);
        assert_eq!(id.len(), 35);
        assert!(id.starts_with("call_03_ET_"));
        assert_eq!(id, call_id(7, 3, true));
        assert_ne!(id, call_id(8, 3, true));
        assert_ne!(call_id(7, 0, false)[8..], call_id(7, 1, false)[8..]);
        let (body, checksum) = id.split_at(31);
        let expected = xxh3_64(body.replace('_', "").as_bytes()) % 10_000;
        assert_eq!(checksum, format!("{expected:04}"));
    }
}
