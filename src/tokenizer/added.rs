//! The tokens that are not text: their spellings, and the roles of those that the crate knows.

use super::Vocabulary;
use crate::token::{Special, TokenId};

/// The added tokens of one tokenizer.
#[derive(Debug)]
pub(super) struct Added {
    /// Ascending by id.
    tokens: Box<[(u32, Box<str>)]>,
    /// By the role's index.
    ids: [Option<TokenId>; Special::ALL.len()],
    /// Ascending by id.
    roles: Box<[(u32, Special)]>,
}

impl Added {
    /// From tokens in ascending order of id, and the roles' ids.
    pub(super) fn new(
        tokens: Vec<(u32, String)>,
        roles: impl IntoIterator<Item = (Special, TokenId)>,
    ) -> Self {
        let mut ids = [None; Special::ALL.len()];
        let mut by_id = Vec::new();
        for (role, id) in roles {
            ids[role.index()] = Some(id);
            by_id.push((id.0, role));
        }
        by_id.sort_unstable();
        let tokens = tokens.into_iter().map(|(id, spelling)| (id, spelling.into_boxed_str())).collect();
        Self { tokens, ids, roles: by_id.into_boxed_slice() }
    }

    /// The base vocabulary's tokens with one model version's spellings and roles.
    pub(super) fn of_version(mut base: Vec<(u32, String)>, version: &Vocabulary) -> Self {
        for (id, spelling) in version.renamed {
            match base.binary_search_by_key(&id.0, |token| token.0) {
                Ok(at) => base[at].1 = String::from(*spelling),
                Err(at) => base.insert(at, (id.0, String::from(*spelling))),
            }
        }
        Self::new(base, version.specials.iter().map(|special| (special.role, special.id)))
    }

    pub(super) fn spelling(&self, id: TokenId) -> Option<&str> {
        let at = self.tokens.binary_search_by_key(&id.0, |token| token.0).ok()?;
        Some(&self.tokens[at].1)
    }

    pub(super) fn id(&self, role: Special) -> Option<TokenId> {
        self.ids[role.index()]
    }

    pub(super) fn role(&self, id: TokenId) -> Option<Special> {
        // Most ids are those of text.
        if id.0 < self.roles.first()?.0 {
            return None;
        }
        let at = self.roles.binary_search_by_key(&id.0, |role| role.0).ok()?;
        Some(self.roles[at].1)
    }

    /// One more than the greatest id.
    pub(super) fn end(&self) -> usize {
        self.tokens.last().map_or(0, |token| token.0 as usize + 1)
    }
}
