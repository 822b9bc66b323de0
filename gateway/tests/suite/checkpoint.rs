//! Checkpoints that the tests write, behind the program itself: random weights, whose answers masks hold to their form.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use deepseek_codec::json::{Json, Object};
use deepseek_codec::model::{PROFILES, Profile};

use crate::candle::{PLACE, check};
use crate::program::{Program, run};

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("gateway-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The configuration and the tensors' shapes of a checkpoint of the crate's fixtures, for a vocabulary of so many ids.
fn checkpoint(name: &str, ids: usize) -> (Object, Vec<(String, Vec<usize>)>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/engine/checkpoints.json");
    let all = Json::parse(&fs::read(file).unwrap()).unwrap();
    let one = all.as_array().unwrap().iter().find(|one| one.get("name").unwrap().as_str() == Some(name));
    let Json::Object(mut config) = one.unwrap().get("config").unwrap().clone() else { panic!() };
    let said = config.get("vocab_size").unwrap().to_string();
    config.insert("vocab_size", (ids as u64).into());
    let Some(Json::Object(tensors)) = one.unwrap().get("tensors") else { panic!() };
    let size = |size: &Json| if size.to_string() == said { ids } else { size.to_string().parse().unwrap() };
    let shape = |shape: &Json| shape.as_array().unwrap().iter().map(size).collect();
    (config, tensors.iter().map(|(name, json)| (name.to_owned(), shape(json))).collect())
}

/// A file of random numbers.
fn safetensors(tensors: &[(String, Vec<usize>)], seed: u32) -> Vec<u8> {
    let (mut header, mut numbers, mut random) = (Object::default(), Vec::new(), seed);
    for (name, shape) in tensors {
        let begin = numbers.len() as u64;
        for _ in 0..shape.iter().product() {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            numbers.extend(((random >> 8) as f32 / (1 << 24) as f32 - 0.5).to_le_bytes());
        }
        let shape: Vec<Json> = shape.iter().map(|size| (*size as u64).into()).collect();
        let place = [begin.into(), (numbers.len() as u64).into()];
        let tensor = Json::from([
            ("dtype", "F32".into()),
            ("shape", Json::Array(shape)),
            ("data_offsets", Json::Array(place.into())),
        ]);
        header.insert(name.as_str(), tensor);
    }
    let header = Json::from(header).to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &numbers].concat()
}

/// A checkpoint in one file.
fn whole(name: &str, ids: usize) -> Folder {
    let folder = Folder::new();
    let (config, tensors) = checkpoint(name, ids);
    folder.write("config.json", Json::from(config).to_string());
    folder.write("model.safetensors", safetensors(&tensors, 7));
    folder
}

/// A checkpoint in two files.
fn sharded() -> Folder {
    let folder = Folder::new();
    let (config, tensors) = checkpoint("deepseek", 129_280);
    folder.write("config.json", Json::from(config).to_string());
    let mut map = Object::default();
    for (at, tensors) in tensors.chunks(tensors.len().div_ceil(2)).enumerate() {
        let file = format!("model-0000{}-of-00002.safetensors", at + 1);
        folder.write(&file, safetensors(tensors, 7 + at as u32));
        tensors.iter().for_each(|(name, _)| map.insert(name.as_str(), file.as_str().into()));
    }
    folder.write("model.safetensors.index.json", Json::from([("weight_map", map.into())]).to_string());
    folder
}

fn start(folder: &Folder) -> Program {
    Program::with(&["--engine", "candle", "--model", folder.path(), "--log", "off"])
}

/// Asks for a place by each of the three APIs.
fn ask_for_places(program: &Program, model: &str) {
    let ask = |path: &str, body: String| {
        let (status, reply) = program.send("POST", path, &body);
        assert_eq!(status, 200, "{reply}");
        Json::parse(reply.as_bytes()).unwrap()
    };
    let chat = ask(
        "/v1/chat/completions",
        format!(
            r#"{{"model": "{model}", "thinking": {{"type": "disabled"}}, "messages": [{{"role": "user", "content": "json"}}],
                "response_format": {{"type": "json_schema", "json_schema": {{"name": "place", "schema": {PLACE}}}}}}}"#
        ),
    );
    let choice = &chat.get("choices").and_then(Json::as_array).unwrap()[0];
    check(choice.get("message").unwrap().get("content").and_then(Json::as_str).unwrap());

    let responses = ask(
        "/v1/responses",
        format!(
            r#"{{"model": "{model}", "reasoning": {{"effort": "none"}}, "input": "json",
                "text": {{"format": {{"type": "json_schema", "name": "place", "schema": {PLACE}}}}}}}"#
        ),
    );
    let item = responses.get("output").and_then(Json::as_array).unwrap().last().unwrap();
    let part = &item.get("content").and_then(Json::as_array).unwrap()[0];
    check(part.get("text").and_then(Json::as_str).unwrap());

    let messages = ask(
        "/v1/messages",
        format!(
            r#"{{"model": "{model}", "thinking": {{"type": "disabled"}}, "max_tokens": 700,
                "messages": [{{"role": "user", "content": "Rain?"}}], "tools": [{{"name": "rain", "input_schema": {PLACE}}}],
                "tool_choice": {{"type": "tool", "name": "rain", "disable_parallel_tool_use": true}}}}"#
        ),
    );
    let calls = messages.get("content").and_then(Json::as_array).unwrap();
    check(&calls[0].get("input").unwrap().to_string());
}

#[test]
fn folders_answer_in_the_form_that_was_asked_for() {
    for folder in [whole("deepseek", 129_280), sharded(), whole("llama", 129_300)] {
        let program = start(&folder);
        let name = folder.0.file_name().unwrap().to_str().unwrap();
        assert!(program.banner.contains(&format!("model: {name}: ")), "{}", program.banner);
        assert!(program.banner.contains("2 layers, 1292") || program.banner.contains("2 layers, 1293"));
        assert!(program.banner.contains("the vocabulary inside this program"), "{}", program.banner);
        assert!(!program.banner.contains("random"), "{}", program.banner);
        let (_, models) = program.send("GET", "/v1/models", "");
        assert!(models.contains(&format!("\"loaded\":\"{name}: ")) && models.contains("\"deepseek-flash\""));
        assert!(!models.contains(folder.path()), "the place stays here: {models}");
        ask_for_places(&program, "deepseek-v4-pro");
        ask_for_places(&program, "deepseek-flash");
        // More than the model takes.
        let long = crate::server::chat(&"word ".repeat(3000));
        let (status, reply) = program.send("POST", "/v1/chat/completions", &long);
        assert!(status == 400 && reply.contains("context"), "{reply}");
        program.end("-TERM");
    }
}

/// A tokenizer of single bytes with the special tokens of a model.
fn bytes_tokenizer(profile: &Profile) -> (String, usize) {
    let printable = |code: &u32| matches!(code, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut vocab = Object::default();
    for (code, id) in (0..=0xFF).filter(printable).chain(0x100..0x144).zip(0_u64..) {
        vocab.insert(char::from_u32(code).unwrap().to_string(), id.into());
    }
    let specials = profile.vocabulary().specials;
    let added = specials.iter().zip(256..).map(|(special, id)| {
        let content = Json::from(special.spellings[0]);
        format!(
            r#"{{"id": {id}, "content": {content}, "special": true, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false}}"#
        )
    });
    let added = added.collect::<Vec<_>>().join(",");
    let level =
        r#"{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}"#;
    let vocab = Json::from(vocab);
    let file = format!(
        r#"{{"version": "1.0", "added_tokens": [{added}], "normalizer": null, "pre_tokenizer": {level},
            "post_processor": null, "decoder": {level}, "model": {{"type": "BPE", "dropout": null, "unk_token": null,
            "continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
            "ignore_merges": false, "vocab": {vocab}, "merges": []}}}}"#
    );
    (file, 256 + specials.len())
}

#[test]
fn a_checkpoint_s_own_tokenizer_is_used() {
    let (file, ids) = bytes_tokenizer(PROFILES[0]);
    let folder = whole("deepseek", ids + 3);
    folder.write("tokenizer.json", &file);
    let program = start(&folder);
    assert!(program.banner.contains("its own tokenizer"), "{}", program.banner);
    let (_, tokens) = program.send("POST", "/tokenize", r#"{"prompt": "!$"}"#);
    assert!(tokens.contains("\"tokens\":[0,3]"), "{tokens}");
    ask_for_places(&program, PROFILES[0].name());
    // The other model has special tokens that are not there.
    let (_, models) = program.send("GET", "/v1/models", "");
    assert!(models.contains(PROFILES[0].name()) && !models.contains("deepseek-flash"), "{models}");
    let other = crate::server::chat("Hi").replace("deepseek-v4-pro", "deepseek-flash");
    let (status, reply) = program.send("POST", "/v1/chat/completions", &other);
    assert!(status == 400 && reply.contains("deepseek-flash"), "{reply}");
    program.end("-TERM");
    let (code, error) =
        run(&["--engine", "candle", "--model", folder.path(), "--alias", "claude-*=deepseek-flash"]);
    assert!(code == Some(2) && error.contains("does not serve deepseek-flash"), "{error}");
}

#[test]
fn what_cannot_be_loaded_is_said() {
    let wrong = |folder: &Folder, what: &str| {
        let (code, error) = run(&["--engine", "candle", "--model", folder.path()]);
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains(what) && error.lines().count() == 1, "{error}");
    };
    let folder = Folder::new();
    wrong(&folder, "config.json: No such file");
    folder.write("config.json", r#"{"architectures": ["GPT2LMHeadModel"]}"#);
    wrong(&folder, "the architecture GPT2LMHeadModel is not known");

    let folder = whole("deepseek", 400);
    wrong(&folder, "the model has 400 ids, the tokenizer has 129280");
    let (file, ids) = bytes_tokenizer(PROFILES[0]);
    folder.write("tokenizer.json", file.replace("｜DSML｜", "｜XML｜"));
    wrong(&folder, "no added token is spelled ｜DSML｜");
    folder.write("tokenizer.json", "{}");
    wrong(&folder, "tokenizer.json: ");
    assert!(ids < 400);
    folder.write("tokenizer.json", file);
    start(&folder).end("-TERM");
    let (_, mut tensors) = checkpoint("deepseek", 400);
    tensors.last_mut().unwrap().1.push(2);
    folder.write("model.safetensors", safetensors(&tensors, 1));
    wrong(&folder, "shape mismatch for model.layers.1.");
    tensors.pop();
    folder.write("model.safetensors", safetensors(&tensors, 1));
    wrong(&folder, "cannot find tensor model.layers.1.");

    let folder = sharded();
    fs::remove_file(folder.0.join("model-00002-of-00002.safetensors")).unwrap();
    wrong(&folder, "model-00002-of-00002.safetensors: No such file");

    for (flags, error) in [
        (&["--engine", "candle", "--model", "/nowhere"][..], "/nowhere: No such file"),
        (&["--engine", "candle", "/nowhere"], "a checkpoint is named by --model"),
    ] {
        let (code, said) = run(flags);
        assert!(code == Some(2) && said.contains(error), "{said}");
    }
}
