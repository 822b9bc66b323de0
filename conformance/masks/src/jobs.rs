//! Schemas with instances, one JSON object a line: `{"id", "schema", "tests": [{"valid", "data"}]}`.

use std::fs;

use serde_json::Value;

#[derive(Debug, Clone, Default)]
pub struct Job {
    pub id: String,
    pub schema: Value,
    pub tests: Vec<Test>,
}

#[derive(Debug, Clone)]
pub struct Test {
    /// What the file says.
    pub valid: bool,
    pub data: Value,
}

pub fn read_all(files: &[String]) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            jobs.push(job(line).map_err(|error| format!("{file}: {error}"))?);
        }
    }
    Ok(jobs)
}

fn job(line: &str) -> Result<Job, serde_json::Error> {
    let mut line: Value = serde_json::from_str(line)?;
    let tests = line["tests"].as_array().cloned().unwrap_or_default();
    Ok(Job {
        id: line["id"].as_str().unwrap_or_default().to_owned(),
        schema: line["schema"].take(),
        tests: tests
            .into_iter()
            .map(|mut test| Test { valid: test["valid"] == true, data: test["data"].take() })
            .collect(),
    })
}
