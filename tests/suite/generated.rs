//! Generated requests with the results of the official conversion, as `conformance export` writes them.

use deepseek_codec::protocol::Api;

use crate::{fixture, golden};

#[test]
fn generated_requests() {
    for api in Api::ALL {
        let cases = fixture::lines(&format!("protocol/generated/{}.jsonl", api.as_str()));
        assert!(cases.len() >= 100, "{} cases", cases.len());
        let failures: Vec<String> = cases
            .iter()
            .map(|case| (fixture::text(case, "id"), golden::check(api, case)))
            .filter(|(_, problems)| !problems.is_empty())
            .map(|(id, problems)| format!("{id}: {}", problems.join("\n    ")))
            .collect();
        assert!(
            failures.is_empty(),
            "{} of {} differ:\n{}",
            failures.len(),
            cases.len(),
            failures.join("\n")
        );
    }
}
