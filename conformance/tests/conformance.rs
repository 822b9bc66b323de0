//! A fixed share of what the runner does, for continuous integration.

use std::collections::BTreeSet;
use std::path::Path;

use conformance::reference::Reference;
use conformance::run::{Plan, Sides, run};
use conformance::{corpus, divergence, golds, report, streams};
use deepseek_codec::protocol::Api;

/// Both sides; with token ids where the environment names a tokenizer file.
fn sides() -> Sides {
    let reference = match std::env::var_os("DEEPSEEK_TOKENIZER_JSON") {
        Some(path) => Reference::load(Path::new(&path)).unwrap(),
        None => Reference::default(),
    };
    Sides { reference, ..Sides::default() }
}

#[test]
fn generated_requests() {
    let plan = Plan { seed: 7, first: 0, count: 5_000, ids_every: 10, keep: 1 };
    let totals = run(&sides(), plan, 2);
    assert!(totals.signatures.is_empty(), "{}", report::findings(&totals));
    assert!(totals.unknown_refusals.is_empty(), "{:?}", totals.unknown_refusals);
}

#[test]
fn generated_streams() {
    let plan = streams::run::Plan { seed: 7, first: 0, count: 5_000, keep: 1 };
    let totals = streams::run::run(plan, 2).unwrap();
    assert!(totals.signatures.is_empty(), "{}", totals.findings());
    // Most outputs are such that nothing is to be explained, and few differ in more than can be repaired.
    let [equal, repaired, up_to, _] = totals.outcomes();
    assert!(equal > 3_000 && repaired > 300 && up_to < 200, "{equal} {repaired} {up_to}");
}

/// Each divergence that explains something in streams is documented, and each documented one explains something.
#[test]
fn stream_divergences() {
    let documented = streams::explain::documented();
    let ids: BTreeSet<&str> = documented.iter().map(|divergence| divergence.id.as_str()).collect();
    assert_eq!(ids, streams::explain::ids());
    assert!(documented.iter().all(|divergence| !divergence.reason.is_empty()));
}

#[test]
fn json_text() {
    let result = corpus::run(&sides(), 7, 5_000);
    assert!(result.prompts > 100);
    assert!(result.differences.is_empty(), "{:#?}", result.differences.first());
}

#[test]
fn gold_prompts() {
    let rendered = golds::run().unwrap();
    assert_eq!(rendered.len(), 42);
    assert!(rendered.iter().all(golds::Gold::is_explained), "{}", golds::report(&rendered));
}

/// Each documented divergence has a predicate, and its example differs as it says.
#[test]
fn divergences() {
    let sides = sides();
    let documented = divergence::all();
    let ids: BTreeSet<&str> = documented.iter().map(|divergence| divergence.id.as_str()).collect();
    assert_eq!(ids, divergence::ids().collect());
    for divergence::Divergence { id, policy, example, .. } in &documented {
        let api = Api::by_name(&example.protocol).unwrap();
        let explained = conformance::run::explained(&sides, api, &example.request.to_string(), policy);
        assert_eq!(explained, Some(id.as_str()));
    }
}
