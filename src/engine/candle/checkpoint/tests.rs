// The lint spares test functions, but not what they call.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Map, Value, json};

use crate::engine::candle::{CandleEngine, CandleState};
use crate::engine::causal::CausalSequence;
use crate::engine::dice::Dice;
use crate::engine::{Branch, CausalModel, Engine};
use crate::model::PROFILES;
use crate::protocol::Sampling;
use crate::token::TokenId;

/// Configurations, and the shapes of the tensors that they ask for.
const CHECKPOINTS: &str = include_str!("../../../../fixtures/engine/checkpoints.json");
/// Changes of them, and what is said then.
const BAD: &str = include_str!("../../../../fixtures/engine/checkpoints_bad.jsonl");

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("deepseek-codec-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), bytes).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn checkpoint(name: &str) -> (Map<String, Value>, Map<String, Value>) {
    let all: Vec<Value> = serde_json::from_str(CHECKPOINTS).unwrap();
    let one = all.iter().find(|one| one["name"] == name).unwrap();
    (one["config"].as_object().unwrap().clone(), one["tensors"].as_object().unwrap().clone())
}

/// A file of random numbers, of 16 bits each.
fn safetensors(tensors: &[(&str, &Value)]) -> Vec<u8> {
    let (mut header, mut numbers) = (Map::new(), Vec::new());
    for (name, shape) in tensors {
        let begin = numbers.len();
        let count: u64 = shape.as_array().unwrap().iter().map(|size| size.as_u64().unwrap()).product();
        // By its name, so that it does not matter in which file it is.
        let mut dice = Dice(xxhash_rust::xxh3::xxh3_64(name.as_bytes()));
        for _ in 0..count {
            numbers.extend(((dice.unit() as f32 - 0.5).to_bits() >> 16).to_le_bytes()[..2].iter().copied());
        }
        let place = json!({"dtype": "BF16", "shape": shape, "data_offsets": [begin, numbers.len()]});
        header.insert((*name).to_owned(), place);
    }
    let header = Value::from(header).to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &numbers].concat()
}

fn whole(name: &str) -> Folder {
    let (config, tensors) = checkpoint(name);
    let folder = Folder::new();
    folder.write("config.json", Value::from(config).to_string());
    let tensors: Vec<_> = tensors.iter().map(|(name, shape)| (name.as_str(), shape)).collect();
    folder.write("model.safetensors", safetensors(&tensors));
    folder
}

fn open(path: &Path) -> Result<CandleEngine, String> {
    CandleEngine::checkpoint(path, &PROFILES[0].tokenizer(), 1).map_err(|error| error.to_string())
}

const GREEDIEST: Sampling = Sampling {
    max_tokens: None,
    temperature: 0.0,
    top_p: 1.0,
    logprobs: false,
    top_logprobs: None,
    seed: None,
    n: 1,
};

/// Greedy decoding.
fn steps(
    engine: &mut CandleEngine,
    sequence: &mut CausalSequence<CandleState>,
    count: usize,
) -> Vec<TokenId> {
    (0..count).map(|_| engine.step(sequence, None).unwrap().id).collect()
}

#[test]
fn a_folder_is_read_and_branches() {
    for name in ["deepseek", "llama"] {
        let folder = whole(name);
        let mut engine = open(&folder.0).unwrap();
        assert!(engine.model().summary().contains("2 layers"), "{}", engine.model().summary());
        // More than goes through the model at once.
        let prompt: Vec<TokenId> = (0..600).map(|at| TokenId(at * 7 % 3000)).collect();
        let mut first = engine.start(&prompt, &GREEDIEST).unwrap();
        steps(&mut engine, &mut first, 5);
        let end = steps(&mut engine, &mut first, 6);
        let mut second = engine.fork(&first, 0).unwrap();
        engine.truncate(&mut second, 5).unwrap();
        assert_eq!(steps(&mut engine, &mut second, 6), end, "{name}");
        // The vocabulary's tokens alone count, and positions end.
        let mut model = engine.model().clone();
        let (mut state, mut logits) = (model.begin().unwrap(), Vec::new());
        model.read(&mut state, &prompt[..1], &mut logits).unwrap();
        assert_eq!(logits.len(), 129_280);
        let rest = vec![TokenId(5); model.context()];
        let error = model.read(&mut state, &rest, &mut logits).unwrap_err().to_string();
        assert!(error.contains("tokens at most"), "{error}");
    }
}

#[test]
fn ids_may_be_read_in_any_parts() {
    for name in ["deepseek", "llama"] {
        let folder = whole(name);
        let mut model = open(&folder.0).unwrap().model().clone();
        let mut logits_of = |parts: &[usize], mut first: u32| {
            let (mut state, mut logits, mut from) = (model.begin().unwrap(), Vec::new(), 0);
            for to in parts {
                logits.clear();
                let ids: Vec<TokenId> =
                    (from..*to).map(|at| TokenId((at as u32 * 31 + first) % 5000)).collect();
                first = 0;
                model.read(&mut state, &ids, &mut logits).unwrap();
                from = *to;
            }
            logits
        };
        for (parts, whole) in [(&[1, 2, 40][..], 40), (&[256, 257, 300], 300), (&[7, 520], 520)] {
            let (parts, whole) = (logits_of(parts, 0), logits_of(&[whole], 0));
            let difference = parts.iter().zip(&whole).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(difference < 1e-3, "{name}: {difference}");
        }
        // The first of two ids counts too.
        let (one, other) = (logits_of(&[1, 2], 0), logits_of(&[1, 2], 9));
        let difference = one.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference > 1e-3, "{name}: {difference}");
    }
}

#[test]
fn files_may_be_several() {
    let one = whole("deepseek");
    let (config, tensors) = checkpoint("deepseek");
    let folder = Folder::new();
    folder.write("config.json", Value::from(config).to_string());
    let tensors: Vec<_> = tensors.iter().map(|(name, shape)| (name.as_str(), shape)).collect();
    let (first, second) = tensors.split_at(tensors.len() / 2);
    folder.write("a.safetensors", safetensors(first));
    // What the index does not name does not count.
    folder.write("b.safetensors", safetensors(&[second, &first[..1]].concat()));
    let answer = |folder: &Folder| {
        let mut engine = open(&folder.0).unwrap();
        let mut sequence = engine.start(&[TokenId(5), TokenId(6)], &GREEDIEST).unwrap();
        steps(&mut engine, &mut sequence, 8)
    };
    assert!(open(&folder.0).unwrap_err().contains("b.safetensors: lm_head.weight is in another file too"));
    let index = |second: &str| {
        let map = tensors.iter().enumerate().map(|(at, (name, _))| {
            let file = if at < tensors.len() / 2 { "a.safetensors" } else { second };
            ((*name).to_owned(), json!(file))
        });
        json!({"metadata": {}, "weight_map": map.collect::<Map<_, _>>()}).to_string()
    };
    folder.write("model.safetensors.index.json", index("b.safetensors"));
    assert_eq!(answer(&folder), answer(&one));
    for (index, error) in [
        (index("c.safetensors"), "c.safetensors: No such file"),
        (index("../b.safetensors"), "is no name of a file"),
        (index("a.safetensors"), "not found"),
        ("{}".to_owned(), "no `weight_map`"),
        ("{".to_owned(), "model.safetensors.index.json: EOF"),
    ] {
        folder.write("model.safetensors.index.json", index);
        let said = open(&folder.0).unwrap_err();
        assert!(said.contains(error), "{said}");
    }
}

#[test]
fn what_cannot_be_loaded_is_said() {
    for line in BAD.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let folder = whole(case["of"].as_str().unwrap());
        let (mut config, _) = checkpoint(case["of"].as_str().unwrap());
        for (name, value) in case["config"].as_object().unwrap() {
            config.insert(name.clone(), value.clone());
            if value.is_null() {
                config.remove(name);
            }
        }
        folder.write("config.json", Value::from(config).to_string());
        let said = open(&folder.0).unwrap_err();
        assert!(said.contains(case["error"].as_str().unwrap()), "{line}: {said}");
    }
    let folder = Folder::new();
    assert!(open(&folder.0).unwrap_err().contains("config.json: No such file"));
    folder.write("config.json", "[]");
    assert!(open(&folder.0).unwrap_err().contains("config.json: invalid type"));
    folder.write("config.json", Value::from(checkpoint("llama").0).to_string());
    assert!(open(&folder.0).unwrap_err().contains("there is no file *.safetensors"));
    folder.write("model.safetensors", "not tensors");
    assert!(open(&folder.0).unwrap_err().contains("model.safetensors: "));
    assert!(open(&folder.0.join("model.gguf")).unwrap_err().contains("model.gguf: No such file"));
    assert!(open(&folder.0.join("model.safetensors")).unwrap_err().contains("model.safetensors: "));
    // Fewer ids than the tokenizer has tokens.
    let (mut config, mut tensors) = checkpoint("llama");
    config.insert("vocab_size".to_owned(), 1000.into());
    tensors["model.embed_tokens.weight"] = json!([1000, 8]);
    folder.write("config.json", Value::from(config).to_string());
    let tensors: Vec<_> = tensors.iter().map(|(name, shape)| (name.as_str(), shape)).collect();
    folder.write("model.safetensors", safetensors(&tensors));
    let said = open(&folder.0).unwrap_err();
    assert!(said.contains("the model has 1000 ids, the tokenizer has 129280"), "{said}");
}

#[test]
fn newer_configurations_say_the_same() {
    let folder = whole("deepseek");
    let (mut config, _) = checkpoint("deepseek");
    let logits_of = |config: &Map<String, Value>| {
        folder.write("config.json", Value::from(config.clone()).to_string());
        let mut model = open(&folder.0).unwrap().model().clone();
        let (mut state, mut logits) = (model.begin().unwrap(), Vec::new());
        model.read(&mut state, &[TokenId(9), TokenId(8), TokenId(7)], &mut logits).unwrap();
        logits
    };
    let older = logits_of(&config);
    let Some(Value::Object(mut positions)) = config.remove("rope_scaling") else { panic!() };
    positions.remove("type");
    config.remove("rope_theta");
    positions.insert("rope_theta".to_owned(), 10_000.into());
    config.insert("rope_parameters".to_owned(), positions.into());
    config.remove("architectures");
    config.remove("n_group");
    assert_eq!(logits_of(&config), older);
    config["rope_parameters"] = json!({"rope_theta": 10_000, "rope_type": "default"});
    assert_ne!(logits_of(&config), older);
    // The other name of the same layers, where experts are chosen alike.
    config.insert("architectures".to_owned(), json!(["DeepseekV3ForCausalLM"]));
    assert!(logits_of(&config).len() == 129_280);
}

#[cfg(feature = "hf")]
#[test]
fn a_folder_s_tokenizer_is_its_own() {
    use crate::engine::candle::checkpoint_tokenizer;
    use crate::token::Special;

    let folder = Folder::new();
    let of = |profile| checkpoint_tokenizer(&folder.0, profile);
    assert!(of(PROFILES[0]).unwrap().is_none());
    let mut file = small_tokenizer(PROFILES[0]);
    folder.write("tokenizer.json", file.to_string());
    let tokenizer = of(PROFILES[0]).unwrap().unwrap();
    let ids = tokenizer.encode_text("abba <｜User｜>");
    assert_eq!(ids[0], TokenId(256));
    assert_eq!(tokenizer.decode(&ids), "abba <｜User｜>");
    let user = tokenizer.special_id(Special::User).unwrap();
    assert!(user.0 > 256 && !ids.contains(&user));
    // Without one of the special tokens it is of no use.
    let without = |file: &Value| {
        let mut file = file.clone();
        file["added_tokens"].as_array_mut().unwrap().retain(|token| token["content"] != "｜DSML｜");
        file
    };
    for (broken, error) in [
        (without(&file), "tokenizer.json: tokenizer file: no added token is spelled ｜DSML｜ (the role"),
        (json!({"model": 5}), "tokenizer.json: "),
    ] {
        folder.write("tokenizer.json", broken.to_string());
        let said = of(PROFILES[0]).err().unwrap().to_string();
        assert!(said.contains(error), "{said}");
    }
    file["model"]["type"] = "WordLevel".into();
    folder.write("tokenizer.json", file.to_string());
    assert!(of(PROFILES[0]).is_err());
}

/// The bytes, one merge, GPT-2's pre-tokenizer and the special tokens of a model.
#[cfg(feature = "hf")]
fn small_tokenizer(profile: &crate::model::Profile) -> Value {
    let printable = |code: &u32| matches!(code, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let bytes = (0..=0xFF).filter(printable).chain(0x100..0x144);
    let tokens = bytes.map(|code| char::from_u32(code).unwrap().to_string()).chain(["ab".to_owned()]);
    let vocab: Map<String, Value> = tokens.zip(0..).map(|(token, id)| (token, json!(id))).collect();
    let specials = profile.vocabulary().specials.iter().zip(vocab.len()..);
    let added: Vec<Value> = specials
        .map(|(special, id)| {
            json!({"id": id, "content": special.spellings[0], "special": true, "single_word": false,
                "lstrip": false, "rstrip": false, "normalized": false})
        })
        .collect();
    let level =
        json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
    json!({"version": "1.0", "added_tokens": added, "normalizer": null, "pre_tokenizer": level, "post_processor": null,
        "decoder": level, "model": {"type": "BPE", "dropout": null, "unk_token": null,
            "continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
            "ignore_merges": false, "vocab": vocab, "merges": [["a", "b"]]}})
}
