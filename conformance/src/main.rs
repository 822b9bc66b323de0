//! The command-line runner.

use std::path::Path;

use conformance::errors::KINDS;
use conformance::reference::Reference;
use conformance::run::{Plan, Sides, run};

fn main() {
    let arg = |index: usize, or: u64| std::env::args().nth(index).and_then(|text| text.parse().ok()).unwrap_or(or);
    let reference = Reference::load(Path::new("/tmp/tokenizers")).unwrap();
    let sides = Sides { reference, ..Sides::default() };
    let plan = Plan { seed: arg(2, 1), first: 0, count: arg(1, 10_000), ids_every: 10, keep: 1 };
    let totals = run(&sides, plan, 2);
    println!("{:#?}", totals.classes.iter().map(|(k, v)| format!("{k:?} {v}")).collect::<Vec<_>>());
    println!("tokenized {}", totals.tokenized);
    for kind in KINDS {
        let n = *totals.refusals.get(kind.name).unwrap_or(&0);
        if n < 5 { println!("{n:6} {}", kind.name) }
    }
    println!("{:#?}", totals.unknown_refusals);
    let mut order: Vec<_> = totals.signatures.iter().collect();
    order.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    for (signature, n) in order {
        println!("\n### {n} × {signature}");
        for f in totals.findings.iter().filter(|f| &f.signature == signature) {
            println!("case {}: {}", f.number, f.body);
            for d in &f.differences {
                println!("  {}:\n    reference {}\n    ours      {}", d.field, d.reference, d.ours);
            }
        }
    }
}
