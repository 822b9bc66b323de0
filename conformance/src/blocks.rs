//! Many cases on several threads. What comes of them does not depend on the number of threads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted; the order in which parts are merged must not matter.
pub trait Totals: Default + Send {
    fn merge(&mut self, other: Self);
}

/// Gives each case to `one`, which adds what comes of it, and returns the sum, or an error of a case.
pub fn gather<T: Totals, E: Send>(
    cases: Range<u64>,
    threads: usize,
    one: impl Fn(u64, &mut T) -> Result<(), E> + Sync,
) -> Result<T, E> {
    const BLOCK: u64 = 256;
    let next = AtomicU64::new(cases.start);
    let totals = Mutex::new(Ok(T::default()));
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let from = next.fetch_add(BLOCK, Ordering::Relaxed);
                    if from >= cases.end {
                        return;
                    }
                    let mut block = T::default();
                    let mut numbers = from..(from + BLOCK).min(cases.end);
                    let done = numbers.try_for_each(|number| one(number, &mut block));
                    let mut totals = totals.lock().expect("no thread panics with the lock");
                    match (&mut *totals, done) {
                        (Ok(totals), Ok(())) => totals.merge(block),
                        (Ok(_), Err(error)) => *totals = Err(error),
                        (Err(_), _) => {}
                    }
                }
            });
        }
    });
    totals.into_inner().expect("no thread panics with the lock")
}

/// Keeps the first `keep` findings of each signature. `describe` gives a finding's case and signature.
pub fn keep_first<F>(findings: &mut Vec<F>, keep: usize, describe: impl Fn(&F) -> (u64, &str)) {
    findings.sort_by_key(|finding| describe(finding).0);
    let mut kept: BTreeMap<String, usize> = BTreeMap::new();
    findings.retain(|finding| {
        let count = kept.entry(describe(finding).1.to_owned()).or_default();
        *count += 1;
        *count <= keep
    });
}
