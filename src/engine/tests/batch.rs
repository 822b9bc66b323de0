use std::ops::ControlFlow;

use super::dreamer::Dreamer;
use super::{Broken, JSON_MODE, session};
use crate::engine::*;
use crate::protocol::Api;

fn body(at: usize) -> String {
    JSON_MODE.replace("400", &format!(r#"{}, "seed": {at}"#, 70 - at * 7))
}

fn keep(sent: &mut [Vec<String>]) -> impl FnMut(&usize, Chunk) -> ControlFlow<()> {
    |key, chunk| {
        sent[*key].push(chunk.data);
        ControlFlow::Continue(())
    }
}

#[test]
fn sessions_that_come_and_go_are_answered_as_if_alone() {
    let mut batcher = Batcher::new(Dreamer::new(1, 0).engine());
    let mut sent = vec![Vec::new(); 7];
    let mut ended = Vec::new();
    // One more after each step.
    for key in 0..7 {
        let early = batcher.admit(key, session(Api::Chat, &body(key)), &mut keep(&mut sent));
        assert!(early.is_none());
        ended.extend(batcher.step(&mut keep(&mut sent)));
    }
    assert!(batcher.len() > 1);
    while !batcher.is_empty() {
        ended.extend(batcher.step(&mut keep(&mut sent)));
    }
    assert!(batcher.step(&mut keep(&mut sent)).is_empty());
    assert_eq!(ended.len(), 7);
    assert!(ended.iter().any(|one| one.key > ended[6].key), "all left in the order of their coming");
    for Ended { key, session: answered, result } in ended {
        result.unwrap();
        let mut alone = session(Api::Chat, &body(key));
        let mut expected = Vec::new();
        let collect = |chunk: Chunk| {
            expected.push(chunk.data);
            ControlFlow::Continue(())
        };
        run(&mut Dreamer::new(1, 0).engine(), &mut alone, collect).unwrap();
        assert_eq!(sent[key], expected);
        assert_eq!(answered.stream().response(), alone.stream().response());
    }
}

#[test]
fn several_answers_read_their_prompt_once() {
    let mut batcher = Batcher::new(Dreamer::new(1, 0).engine());
    let mut sent = vec![Vec::new(); 3];
    let answers = (0..3).map(|key| (key, session(Api::Chat, &body(3))));
    assert!(batcher.admit_answers(answers, &mut keep(&mut sent)).is_empty());
    assert_eq!(batcher.engine().model().states, 1);
    let mut responses = vec![String::new(); 3];
    while !batcher.is_empty() {
        for Ended { key, session, result } in batcher.step(&mut keep(&mut sent)) {
            result.unwrap();
            responses[key] = session.stream().response().to_string();
        }
    }
    let mut alone = session(Api::Chat, &body(3));
    run(&mut Dreamer::new(1, 0).engine(), &mut alone, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(responses[0], alone.stream().response().to_string());
    assert!(responses[0] != responses[1] && responses[1] != responses[2] && responses[0] != responses[2]);
}

#[test]
fn who_leaves_or_is_refused_does_not_disturb_the_others() {
    let mut batcher = Batcher::new(Dreamer::new(1, 0).engine());
    let mut seen = [0; 3];
    let mut send = |key: &usize, _: Chunk| {
        seen[*key] += 1;
        // The second client leaves.
        if *key == 1 && seen[1] == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    for key in 0..3 {
        assert!(batcher.admit(key, session(Api::Chat, &body(key)), &mut send).is_none());
    }
    let mut ended = Vec::new();
    while !batcher.is_empty() {
        ended.extend(batcher.step(&mut send));
    }
    for Ended { key, session, result } in ended {
        assert_eq!(matches!(result, Err(RunError::Cancelled)), key == 1);
        assert_eq!(session.is_over(), key != 1);
    }
    // The engine fails for all.
    let mut batcher = Batcher::new(Dreamer { reads: 5, ..Dreamer::new(1, 0) }.engine());
    let mut sent = vec![Vec::new(); 4];
    for key in 0..3 {
        assert!(batcher.admit(key, session(Api::Chat, &body(key)), &mut keep(&mut sent)).is_none());
    }
    let ended = batcher.step(&mut keep(&mut sent));
    assert!(batcher.is_empty());
    assert_eq!(ended.len(), 3);
    assert!(sent[..3].iter().all(|data| data.iter().any(|data| data.contains("the device is gone"))));
    let early = batcher.admit(3, session(Api::Chat, &body(3)), &mut keep(&mut sent)).unwrap();
    assert!(
        matches!(early.result, Err(RunError::Engine(error)) if matches!(*error, CausalError::Model(Broken)))
    );
    assert!(sent[3].iter().any(|data| data.contains("the device is gone")), "{:?}", sent[3]);
}
