//! Settings and flags.

use clap::Parser;
use deepseek_codec::protocol::{Api, Dialect};
use deepseek_codec_gateway::config::{Config, EngineKind, MaskMode};
use deepseek_codec_gateway::engine::script::Script;
use deepseek_codec_gateway::flags::Flags;

/// A file of the crate.
fn file(name: &str) -> String {
    format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_example_has_the_defaults() {
    let example = Config::parse(&std::fs::read_to_string(file("gateway.example.toml")).unwrap()).unwrap();
    assert_eq!(format!("{example:?}"), format!("{:?}", Config::default()));
}

#[test]
fn flags_come_before_the_file() {
    let flags =
        ["gateway", "--config", &file("gateway.example.toml"), "--listen", "[::1]:9", "--engine", "script"];
    let more = [
        "x.jsonl",
        "--dialect",
        "deepseek",
        "--masks",
        "off",
        "--max-requests",
        "7",
        "--alias",
        "a*=deepseek-flash",
    ];
    let config = Flags::parse_from(flags.into_iter().chain(more)).config().unwrap();
    assert_eq!((config.listen.as_str(), config.limits.requests), ("[::1]:9", 7));
    assert_eq!(
        (config.engine.kind, config.engine.script.unwrap().to_str()),
        (EngineKind::Script, Some("x.jsonl"))
    );
    let flags = Flags::parse_from(flags.into_iter().chain(more));
    let config = flags.config().unwrap();
    assert!(Api::ALL.iter().all(|api| config.dialect(*api) == Dialect::Deepseek));
    assert_eq!(config.masks.mode, MaskMode::Off);
    assert!(config.options(Api::Chat).unwrap().models.get("abc").is_ok());
}

#[test]
fn what_is_not_known_is_an_error() {
    let wrong = |text: &str| Config::parse(text).unwrap_err().to_string();
    assert!(wrong("listn = 1").contains("listn"));
    assert!(wrong("[limits]\nrequests = -1").contains("requests"));
    let config = Config::parse("[aliases]\nx = \"gpt-9\"").unwrap();
    assert!(config.options(Api::Chat).unwrap_err().to_string().contains("gpt-9"));
    let flag =
        |flags: [&str; 2]| Flags::parse_from(["gateway"].into_iter().chain(flags)).config().unwrap_err();
    assert!(flag(["--engine", "magic"]).to_string().contains("script"));
    assert!(flag(["--masks", "no"]).to_string().contains("exact, relaxed, off"));
    assert!(flag(["--alias", "x"]).to_string().contains("no `=`"));
    assert!(flag(["--config", "/nowhere.toml"]).to_string().contains("/nowhere.toml"));
}

#[test]
fn keys_stay_out_of_what_is_shown() {
    let config = Config::parse("keys = [{ name = \"a\", key = \"sk-secret\" }]").unwrap();
    assert!(!format!("{config:?}").contains("sk-secret"));
}

#[test]
fn wrong_scripts_are_refused_with_their_line() {
    for (script, problem) in [
        ("{", "line 1"),
        ("\n# x\n[]", "line 3: not an object"),
        (r#"{"generate": 5}"#, "`generate` has to be"),
        (r#"{"generate": [1, -2]}"#, "`generate` has to be"),
        (r#"{"delay_ms": -1}"#, "`delay_ms` cannot be -1"),
        (r#"{"api": "soap"}"#, "`api` cannot be"),
        (r#"{"finish": "soon"}"#, "`finish` cannot be"),
        (r#"{"fail_after": "later"}"#, "`fail_after` cannot be"),
        (r#"{"txt": "x"}"#, "`txt` is not known"),
    ] {
        let error = Script::parse(script).unwrap_err().to_string();
        assert!(error.contains(problem), "{script}: {error}");
    }
    assert!(Script::parse(r#"{"generate": [1, 2]}"#).is_ok());
}
