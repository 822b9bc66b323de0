//! Both sides of a schema, and the count of what differs.

use std::collections::BTreeMap;
use std::process::ExitCode;

use deepseek_codec::json::Json;
use deepseek_codec::schema::strict::Top;
use deepseek_codec::schema::{meta, strict};
use serde_json::Value;

use crate::oracle;

#[derive(Default)]
struct Count {
    equal: usize,
    verdict: usize,
    message: usize,
    refused: usize,
}

#[derive(Default)]
pub struct Totals {
    counts: BTreeMap<&'static str, Count>,
    skipped: usize,
}

/// How many differences of a kind are printed.
const SHOWN: usize = 25;

impl Totals {
    pub fn add(&mut self, schema: &Value) {
        self.add_meta(schema);
        let json = Json::from(schema.clone());
        self.compare(
            "strict parameters",
            schema,
            strict_parameters(schema),
            ours_strict(&json, Top::Parameters),
        );
        self.compare(
            "strict response",
            schema,
            oracle::strict_response(schema),
            ours_strict(&json, Top::Response),
        );
    }

    pub fn add_meta(&mut self, schema: &Value) {
        let ours = meta::check(&Json::from(schema.clone())).map(|()| String::new());
        match oracle::meta(schema) {
            Some(official) => self.compare(
                "meta",
                schema,
                official.map(|()| String::new()),
                ours.map_err(|error| error.to_string()),
            ),
            None => self.skipped += 1,
        }
    }

    fn compare(
        &mut self,
        kind: &'static str,
        schema: &Value,
        official: Result<String, String>,
        ours: Result<String, String>,
    ) {
        let count = self.counts.entry(kind).or_default();
        count.refused += usize::from(official.is_err());
        let slot = match (&official, &ours) {
            _ if official == ours => {
                count.equal += 1;
                return;
            }
            (Ok(_), Ok(_)) | (Err(_), Err(_)) => &mut count.message,
            _ => &mut count.verdict,
        };
        *slot += 1;
        if *slot <= SHOWN {
            println!("{kind}: {schema}\n  official {official:?}\n  ours     {ours:?}");
        }
    }

    pub fn print(self) -> ExitCode {
        let mut differs = 0;
        for (kind, count) in &self.counts {
            let generated = count.equal + count.verdict + count.message;
            println!(
                "{kind}: {generated} schemas, {} refused, {} equal, {} verdict differs, {} message differs",
                count.refused, count.equal, count.verdict, count.message
            );
            differs += count.verdict;
        }
        if self.skipped > 0 {
            println!("skipped because the official crates panic: {}", self.skipped);
        }
        ExitCode::from(u8::from(differs > 0))
    }
}

fn strict_parameters(schema: &Value) -> Result<String, String> {
    // `null` counts as absent there.
    if schema.is_null() {
        return ours_strict(&Json::Null, Top::Parameters);
    }
    oracle::strict_parameters(schema).map(|schema| schema.to_string())
}

/// Our form for the prompt, without the definitions that the official one never has.
fn ours_strict(schema: &Json, top: Top) -> Result<String, String> {
    match strict::normalize(schema, top) {
        Ok(forms) => {
            let mut prompt = Value::from(forms.prompt);
            without_definitions(&mut prompt);
            Ok(prompt.to_string())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Removes `$defs` and `definitions` of schemas, not properties of that name.
fn without_definitions(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    for key in ["$defs", "definitions"] {
        members.shift_remove(key);
    }
    for key in ["properties", "$def"] {
        if let Some(Value::Object(schemas)) = members.get_mut(key) {
            schemas.values_mut().for_each(without_definitions);
        }
    }
    for key in ["items", "anyOf"] {
        match members.get_mut(key) {
            Some(Value::Array(schemas)) => schemas.iter_mut().for_each(without_definitions),
            Some(schema) => without_definitions(schema),
            None => {}
        }
    }
}

pub fn show(schema: &Value) {
    let json = Json::from(schema.clone());
    println!("meta\n  official {:?}\n  ours     {:?}", oracle::meta(schema), meta::check(&json));
    println!("strict parameters\n  official {:?}", strict_parameters(schema));
    println!(
        "  ours     {:?}",
        strict::normalize(&json, Top::Parameters)
            .map(|forms| (forms.prompt.to_string(), forms.enforced.to_string()))
    );
    println!("strict response\n  official {:?}", oracle::strict_response(schema));
    println!("  ours     {:?}", ours_strict(&json, Top::Response));
}
