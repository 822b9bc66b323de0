//! Compiled constraints, kept for requests that come again.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Masks;
use crate::constraint::{Constraint, ConstraintError, LeftOut};
use crate::grammar::{Compiled, Compiler, Layout};
use crate::output::{Plan, Start};
use crate::protocol::Lowered;

/// Compiles the constraints of requests and keeps the latest ones: clients send the same tools and schemas with each
/// request. Many threads can share it; two that miss the same constraint at once both compile it.
pub struct MaskCache {
    compiler: Compiler,
    layout: Layout,
    relaxed: bool,
    capacity: usize,
    /// Hashes come from clients' schemas, so they are seeded.
    hasher: RandomState,
    /// The latest first.
    kept: Mutex<Vec<Kept>>,
}

struct Kept {
    hash: u64,
    constraint: Constraint,
    start: Start,
    model: &'static str,
    masks: CachedMasks,
}

/// What a [`MaskCache`] has for a request.
#[derive(Debug, Clone)]
pub struct CachedMasks {
    compiled: Option<Arc<Compiled>>,
    /// What of the schemas is not enforced.
    pub left_out: Arc<[LeftOut]>,
    /// Whether it was there already.
    pub was_kept: bool,
}

impl CachedMasks {
    /// The masks of a session.
    #[must_use]
    pub fn masks(&self) -> Masks<'static> {
        self.compiled.clone().map_or(Masks::None, Masks::Compiled)
    }
}

impl MaskCache {
    /// A cache of at most `capacity` compiled constraints; 0 keeps none. If it is `relaxed`, what cannot be enforced is
    /// left out; else it is an error.
    #[must_use]
    pub fn new(compiler: Compiler, layout: Layout, relaxed: bool, capacity: usize) -> Self {
        let (hasher, kept) = (RandomState::new(), Mutex::default());
        Self { compiler, layout, relaxed, capacity, hasher, kept }
    }

    /// The masks of a request, compiled now or before.
    ///
    /// # Errors
    ///
    /// If what the answer must look like cannot be enforced.
    pub fn get(&self, lowered: &Lowered) -> Result<CachedMasks, ConstraintError> {
        let Some(constraint) = Constraint::of(&lowered.conversation) else {
            return Ok(CachedMasks { compiled: None, left_out: Arc::default(), was_kept: false });
        };
        let start = Plan::of(&lowered.conversation, &lowered.stops).start;
        let model = lowered.profile.name();
        let hash = self.hasher.hash_one((model, constraint.kind(), constraint.schema_text()));
        let is_it = |kept: &Kept| {
            (kept.hash, kept.start, kept.model) == (hash, start, model) && kept.constraint == constraint
        };
        let mut kept = self.kept();
        if let Some(at) = kept.iter().position(is_it) {
            kept[..=at].rotate_right(1);
            return Ok(CachedMasks { was_kept: true, ..kept[0].masks.clone() });
        }
        drop(kept);
        let (compiled, left_out) = if self.relaxed {
            constraint.compile_relaxed(start, lowered.profile, &self.compiler, self.layout)?
        } else {
            (constraint.compile(start, lowered.profile, &self.compiler, self.layout)?, Vec::new())
        };
        let masks = CachedMasks { compiled: Some(compiled), left_out: left_out.into(), was_kept: false };
        let mut kept = self.kept();
        if !kept.iter().any(is_it) {
            kept.insert(0, Kept { hash, constraint, start, model, masks: masks.clone() });
            kept.truncate(self.capacity);
        }
        Ok(masks)
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        // A list that a panic interrupted is a list all the same.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MaskCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaskCache").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}
