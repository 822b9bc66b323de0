//! Reading fixtures.

use std::fs;
use std::path::PathBuf;

use deepseek_codec::json::Json;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

/// The bytes of a fixture.
pub(crate) fn bytes(name: &str) -> Vec<u8> {
    fs::read(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A fixture that is one JSON value.
pub(crate) fn json(name: &str) -> Json {
    Json::parse(&bytes(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A fixture with one JSON value a line.
pub(crate) fn lines(name: &str) -> Vec<Json> {
    let bytes = bytes(name);
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| Json::parse(line).unwrap_or_else(|error| panic!("{name}: {error}"))).collect()
}

/// The text of a member that has to be there.
pub(crate) fn text<'j>(json: &'j Json, key: &str) -> &'j str {
    json.get(key).and_then(Json::as_str).unwrap_or_else(|| panic!("no text {key} in {json}"))
}
