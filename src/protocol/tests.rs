use super::*;

#[test]
fn the_longest_prefix_of_a_name_decides() {
    let (first, last) = (PROFILES[0], PROFILES[PROFILES.len() - 1]);
    let mut models = Models::default();
    models.insert_prefix("claude-", last);
    models.insert_prefix("claude-opus", first);
    models.insert("claude-opus-old", last);
    let profile = |name: &str| models.get(name).ok();
    assert_eq!(profile("claude-sonnet"), Some(last));
    assert_eq!(profile("claude-opus-5"), Some(first));
    assert_eq!(profile("claude-opus-old"), Some(last));
    assert_eq!(profile("claude"), None);
    assert_eq!(profile(first.name()), Some(first));
    assert_eq!(models.prefixes().count(), 2);
}
