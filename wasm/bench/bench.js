// Speed in Node beside other tokenizers of npm and the native program. Prints tables for BENCHMARKS.md.
//
//   npm ci && node bench.js tokenizer.json FOLDER    (texts to encode, *.txt, in FOLDER; the package is built and unpacked)

import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";

const [tokenizerFile, folder] = process.argv.slice(2);
const wasm = new URL("..", import.meta.url).pathname;
const installed = join(wasm, "tests/out/consumer/node_modules/deepseek-codec");
const program = process.env.DEEPSEEK_CODEC ?? join(wasm, "../target/release/deepseek-codec");

/** Milliseconds of processor time of this process. */
const clock = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

function best(rounds, run) {
  let least = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    const begun = clock();
    run();
    least = Math.min(least, clock() - begun);
  }
  return least;
}

function ready() {
  const code = (entry, load) => `
    const begun = process.cpuUsage();
    const codec = await import(${JSON.stringify(join(installed, entry))});
    ${load}
    new codec.Tokenizer("deepseek-v4-pro").encode("Hello");
    const { user, system } = process.cpuUsage(begun);
    console.log((user + system) / 1000);`;
  const times = (entry, load = "") =>
    Math.min(...Array.from({ length: 9 }, () => Number(execFileSync(process.execPath, ["--input-type=module", "-e", code(entry, load)], { encoding: "utf8" }))));
  const vocabulary = `codec.loadVocabulary((await import("node:fs")).readFileSync(${JSON.stringify(join(installed, "vocabulary.bin"))}));`;
  console.log("| from import to the first ids, Node, processor time, least of nine processes | ms |\n| --- | ---: |");
  console.log(`| \`deepseek-codec\` | ${times("index.node.js").toFixed(1)} |`);
  console.log(`| \`deepseek-codec/slim\` and its vocabulary | ${times("slim.node.js", vocabulary).toFixed(1)} |`);
}

async function encode() {
  const codec = await import(join(installed, "index.node.js"));
  const json = JSON.parse(readFileSync(tokenizerFile, "utf8"));
  const own = new codec.Tokenizer("deepseek-v4-pro");
  const { Tokenizer } = await import("@huggingface/tokenizers");
  const { TokenizerLoader } = await import("@lenml/tokenizers");
  const config = { tokenizer_class: "PreTrainedTokenizer", bos_token: "<｜begin▁of▁sentence｜>", eos_token: "<｜end▁of▁sentence｜>", pad_token: "<｜▁pad▁｜>" };
  const hugging = new Tokenizer(json, config);
  const lenml = TokenizerLoader.fromPreTrained({ tokenizerJSON: json, tokenizerConfig: config });
  const versions = ["@huggingface/tokenizers", "@lenml/tokenizers"].map((name) => `${name} ${JSON.parse(readFileSync(join(wasm, "bench/node_modules", name, "package.json"), "utf8")).version}`);
  const peers = [(text) => hugging.encode(text, { add_special_tokens: false }).ids, (text) => lenml.encode(text, { add_special_tokens: false })];
  console.log(`\n| encode, Node, MB/s | deepseek-codec | ${versions.join(" | ")} | times the faster |\n| --- | ---: | ---: | ---: | ---: |`);
  for (const file of readdirSync(folder).filter((file) => file.endsWith(".txt")).sort()) {
    const whole = readFileSync(join(folder, file), "utf8");
    // What a peer has cached of one text is no gain on the next.
    const texts = Array.from({ length: 4 }, (_, index) => whole.slice(index * 60_000, index * 60_000 + 50_000)).filter((text) => text.length > 10_000);
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const speeds = [(text) => own.encode(text), ...peers].map((run) => {
      texts.forEach((text) => run(text.slice(0, 2000)));
      return bytes / 1000 / best(3, () => texts.forEach(run));
    });
    const ids = texts.map((text) => Array.from(own.encode(text)).join());
    const same = peers.map((run) => texts.every((text, index) => Array.from(run(text)).join() === ids[index]));
    const fastest = Math.max(...speeds.slice(1));
    const cells = speeds.map((speed, index) => `${speed.toFixed(speed < 10 ? 2 : 0)}${index > 0 && !same[index - 1] ? " (other ids)" : ""}`);
    console.log(`| ${basename(file, ".txt")} | ${cells.join(" | ")} | ${(speeds[0] / fastest).toFixed(0)} |`);
  }
}

/** Times of masks, schema by schema, as `constrain` takes them. */
async function masks() {
  const codec = await import(join(installed, "index.node.js"));
  const compiler = new codec.Compiler(codec.models().at(-1).name);
  const tokenizer = new codec.Tokenizer(codec.models().at(-1).name);
  const mask = new Uint32Array(compiler.maskWords);
  const schemas = JSON.parse(readFileSync(join(wasm, "../fixtures/grammar/schemas.json"), "utf8"));
  const parsed = (text) => {
    try {
      return [JSON.parse(text)];
    } catch {
      return [];
    }
  };
  const jobs = schemas.map(({ schema, accepts }) => ({ schema, tests: accepts.flatMap(parsed).map((data) => ({ data })) }));
  const spaced = (data) => execFileSync("python3", ["-c", "import json,sys; print(json.dumps(json.loads(sys.stdin.read()), ensure_ascii=False), end='')"], { input: JSON.stringify(data), encoding: "utf8" });
  const texts = jobs.map(({ tests }) => tests.map(({ data }) => tokenizer.encode(spaced(data))));
  const at = (times, share) => times.sort((a, b) => a - b)[Math.min(Math.floor(times.length * share), times.length - 1)];
  const walk = () => jobs.map(({ schema }, job) => {
    const constraint = compiler.schema(schema);
    const times = [];
    for (const ids of texts[job]) {
      const matcher = constraint.matcher();
      for (const id of ids) {
        const begun = performance.now();
        matcher.fillMask(mask);
        times.push((performance.now() - begun) * 1000);
        if (matcher.tryAccept([id]) === 0) break;
      }
      matcher.free();
    }
    constraint.free();
    return times;
  });
  const lines = jobs.map((job) => `${JSON.stringify(job)}\n`).join("");
  const native = () => execFileSync(program, ["constrain"], { input: lines, encoding: "utf8" }).trim().split("\n").map((line) => JSON.parse(line).mask_us);
  const runs = (run) => Array.from({ length: 9 }, run);
  // Of each mask, and of each quantile of the native program, the least of nine runs: what else runs here takes turns.
  const own = runs(walk).reduce((least, run) => least.map((times, job) => times.map((time, index) => Math.min(time, run[job][index]))))
    .map((times) => ({ n: times.length, p50: at(times, 0.5), p90: at(times, 0.9) }));
  const theirs = runs(native).reduce((least, run) => least.map((row, job) => ({ n: row.n, p50: Math.min(row.p50, run[job].p50), p90: Math.min(row.p90, run[job].p90) })));
  const mean = (rows, key) => rows.reduce((sum, row) => sum + (row.n && row[key] * row.n), 0) / rows.reduce((sum, row) => sum + row.n, 0);
  console.log("\n| masks of the fixtures' schemas, mean of the schemas | in Node | native |\n| --- | ---: | ---: |");
  for (const [name, key] of [["half of the masks take at most, µs", "p50"], ["nine of ten take at most, µs", "p90"]]) {
    console.log(`| ${name} | ${[own, theirs].map((rows) => mean(rows, key).toFixed(1)).join(" | ")} |`);
  }
}

ready();
await encode();
await masks();
