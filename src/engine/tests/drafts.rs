use std::ops::ControlFlow;

use super::dreamer::Dreamer;
use super::{Broken, Deaf, JSON_MODE, TOOL, session};
use crate::engine::*;
use crate::protocol::{Api, Sampling};
use crate::token::TokenId;

/// Counts how often it looks at a draft.
struct Counting<E> {
    engine: E,
    passes: u64,
}

impl<E: Engine> Engine for Counting<E> {
    type Sequence = E::Sequence;
    type Error = E::Error;

    fn start(&mut self, prompt: &[TokenId], sampling: &Sampling) -> Result<E::Sequence, E::Error> {
        self.engine.start(prompt, sampling)
    }

    fn step(&mut self, sequence: &mut E::Sequence, mask: Option<LogitMask<'_>>) -> Result<Step, E::Error> {
        self.engine.step(sequence, mask)
    }

    fn stop(&mut self, sequence: E::Sequence) {
        self.engine.stop(sequence);
    }
}

impl<E: Branch> Branch for Counting<E> {
    fn fork(&mut self, sequence: &E::Sequence, branch: u32) -> Result<E::Sequence, E::Error> {
        self.engine.fork(sequence, branch)
    }

    fn truncate(&mut self, sequence: &mut E::Sequence, generated: usize) -> Result<(), E::Error> {
        self.engine.truncate(sequence, generated)
    }

    fn verify(
        &mut self,
        sequence: &mut E::Sequence,
        draft: &[TokenId],
        masks: &[Option<LogitMask<'_>>],
        steps: &mut Vec<Step>,
    ) -> Result<(), E::Error> {
        self.passes += 1;
        self.engine.verify(sequence, draft, masks, steps)
    }
}

/// All that goes to the client, and how it ended.
fn sent<T>(run: impl FnOnce(&mut dyn FnMut(Chunk) -> ControlFlow<()>) -> T) -> (Vec<String>, T) {
    let mut sent = Vec::new();
    let result = run(&mut |chunk| {
        sent.push(chunk.data);
        ControlFlow::Continue(())
    });
    (sent, result)
}

fn bodies() -> [(Api, String); 3] {
    let tool = format!(
        r#"{{"model": "larger", "max_tokens": 150, "thinking": {{"type": "disabled"}}, "messages": [{{"role": "user", "content": "hi"}}], "tools": [{{"name": "weather", "input_schema": {TOOL}}}], "tool_choice": {{"type": "tool", "name": "weather"}}}}"#
    );
    let coldest = JSON_MODE.replace(r#""max_tokens": 400"#, r#""max_tokens": 60, "temperature": 0"#);
    let text = JSON_MODE.replace("400", "30").replace("json_object", "text");
    [(Api::Messages, tool), (Api::Chat, coldest), (Api::Chat, text)]
}

#[test]
fn answers_are_the_same_with_drafts() {
    let mut gained = 0;
    for (api, body) in bodies() {
        let mut alone = session(api, &body);
        let (expected, end) = sent(|send| run(&mut Dreamer::new(1, 0).engine(), &mut alone, send));
        end.unwrap();
        for (length, slips, can_go_back) in
            [(0, 0, true), (1, 0, true), (4, 0, false), (4, 3, true), (7, 2, false), (500, 5, true)]
        {
            let mut engine = Counting { engine: Dreamer::new(1, 0).engine(), passes: 0 };
            let mut drafter = Dreamer { can_go_back, ..Dreamer::new(1, slips) }.engine();
            let mut drafted = session(api, &body);
            let (events, report) =
                sent(|send| run_with_drafts(&mut engine, &mut drafter, length, &mut drafted, send));
            let report = report.unwrap();
            let at = format!("{body}: drafts of {length}, {slips}: {report:?}");
            assert_eq!(events, expected, "{at}");
            assert!(report.accepted <= report.proposed && report.failure.is_none(), "{at}");
            // Each look gives the accepted tokens and one more, but for the last.
            let tokens = drafted.stream().usage().completion;
            assert!(tokens <= report.accepted + engine.passes, "{at}");
            if length == 0 {
                assert_eq!((report.proposed, report.accepted), (0, 0));
            }
            if body.contains(r#""temperature": 0"#) && length > 0 && slips == 0 {
                // The same guesses; what the answer has no room for is not proposed.
                assert_eq!(report.accepted, report.proposed, "{at}");
                assert!(engine.passes < tokens, "{at}");
            }
            gained += report.accepted;
        }
    }
    assert!(gained > 100, "{gained}");
}

#[test]
fn a_drafter_that_fails_or_takes_no_notice_of_masks_does_no_harm() {
    let (api, body) = &bodies()[0];
    let mut alone = session(*api, body);
    let (expected, _) = sent(|send| run(&mut Dreamer::new(1, 0).engine(), &mut alone, send));
    for reads in [0, 1, 2, 9] {
        let mut drafter = Dreamer { reads, ..Dreamer::new(1, 0) }.engine();
        let mut drafted = session(*api, body);
        let (events, report) = sent(|send| {
            run_with_drafts(&mut Dreamer::new(1, 0).engine(), &mut drafter, 3, &mut drafted, |chunk| {
                send(chunk)
            })
        });
        assert_eq!(events, expected);
        assert!(matches!(report.unwrap().failure, Some(CausalError::Model(Broken))));
    }
    let mut drafted = session(*api, body);
    let (events, report) =
        sent(|send| run_with_drafts(&mut Dreamer::new(1, 0).engine(), &mut Deaf, 3, &mut drafted, send));
    assert_eq!(events, expected);
    // Its one word may come as a parameter's value, but nowhere else.
    assert!(report.unwrap().proposed < drafted.stream().usage().completion / 2);
}

#[test]
fn what_breaks_off_ends_well_formed_with_drafts() {
    let mut failing = Dreamer { reads: 4, ..Dreamer::new(1, 0) }.engine();
    let mut answer = session(Api::Chat, JSON_MODE);
    let (events, result) =
        sent(|send| run_with_drafts(&mut failing, &mut Dreamer::new(1, 0).engine(), 2, &mut answer, send));
    assert!(matches!(result, Err(RunError::Engine(CausalError::Model(Broken)))));
    assert!(answer.is_over() && events.iter().any(|data| data.contains("the device is gone")), "{events:?}");
    let mut answer = session(Api::Chat, JSON_MODE);
    let leave = |_| ControlFlow::Break(());
    let result = run_with_drafts(
        &mut Dreamer::new(1, 0).engine(),
        &mut Dreamer::new(1, 0).engine(),
        2,
        &mut answer,
        leave,
    );
    assert!(matches!(result, Err(RunError::Cancelled)));
    let mut answer = session(Api::Chat, JSON_MODE);
    let result = run_with_drafts(&mut Deaf, &mut Dreamer::new(1, 0).engine(), 2, &mut answer, |_| {
        ControlFlow::Continue(())
    });
    assert!(matches!(result, Err(RunError::Rejected(_))));
}
