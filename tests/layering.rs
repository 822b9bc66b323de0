//! The module order, and that nothing outside `src/model` knows a model version.

// The lint spares test functions, but not what they call.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// The modules in their order; a module uses only modules of earlier groups.
const ORDER: &[&[&str]] = &[
    &["token", "json"],
    &["prompt"],
    &["tokenizer", "conversation"],
    &["grammar"],
    &["schema"],
    &["model"],
    &["output"],
    &["constraint"],
    &["protocol"],
    &["inspect"],
    &["engine"],
];

/// Words that name a model version.
const VERSIONS: &[&str] = &["v3", "v31", "v32", "v4", "v41", "dsv4", "dsv41", "v5"];

fn rank(module: &str) -> Option<usize> {
    ORDER.iter().position(|group| group.contains(&module))
}

fn source_files(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Every source file as its path below `src` and its text.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&root, &mut files);
    let name = |path: &Path| path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
    files.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// The top module that a file belongs to.
fn module_of(file: &str) -> &str {
    let first = file.split('/').next().unwrap();
    first.strip_suffix(".rs").unwrap_or(first)
}

/// The modules that a line names as `crate::…`, also inside `crate::{…}` on one line.
fn used_modules(line: &str) -> Vec<&str> {
    let mut used = Vec::new();
    for (at, _) in line.match_indices("crate::") {
        let rest = &line[at + "crate::".len()..];
        if let Some(list) = rest.strip_prefix('{') {
            let depth_one = list.split(['{', '}']).step_by(2).flat_map(|part| part.split(','));
            used.extend(depth_one.map(first_word));
        } else {
            used.push(first_word(rest));
        }
    }
    used.retain(|word| !word.is_empty());
    used
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

#[test]
fn modules_use_only_what_stands_before_them() {
    let mut problems = Vec::new();
    let mut seen = 0;
    for (file, text) in sources() {
        let module = module_of(&file);
        let Some(own) = rank(module) else {
            assert!(matches!(module, "lib" | "bin"), "src/{file} belongs to no group of the module order");
            continue;
        };
        for (index, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for used in used_modules(line) {
                let Some(other) = rank(used) else { continue };
                seen += 1;
                if used != module && other >= own {
                    problems.push(format!("src/{file}:{}: {module} uses {used}", index + 1));
                }
            }
        }
    }
    assert!(seen > 50, "only {seen} uses found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn no_version_is_named_outside_the_models() {
    let mut problems = Vec::new();
    let mut in_models = 0;
    for (file, text) in sources() {
        for (index, line) in text.lines().enumerate() {
            let words = line.split(|c: char| !c.is_ascii_alphanumeric());
            if words.map(str::to_ascii_lowercase).any(|word| VERSIONS.contains(&word.as_str())) {
                if module_of(&file) == "model" {
                    in_models += 1;
                } else {
                    problems.push(format!("src/{file}:{}: {}", index + 1, line.trim()));
                }
            }
        }
    }
    assert!(in_models > 3);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn only_rendering_writes_special_tokens() {
    let mut writers = Vec::new();
    for (file, text) in sources().into_iter().filter(|(file, _)| !file.ends_with("tests.rs")) {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        if code.into_iter().any(|line| line.contains("push_special(")) {
            writers.push(module_of(&file).to_owned());
        }
    }
    writers.dedup();
    writers.sort();
    writers.dedup();
    assert_eq!(writers, ["model", "prompt"]);
}

#[test]
fn files_stay_readable() {
    let long: Vec<String> = sources()
        .into_iter()
        .map(|(file, text)| (file, text.lines().count()))
        .filter(|(_, lines)| *lines > 600)
        .map(|(file, lines)| format!("src/{file}: {lines} lines"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}
