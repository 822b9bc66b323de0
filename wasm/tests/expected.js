// Runs the native program on the crate's fixtures and writes what it says to out/cases.json, for checks.js.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = new URL("../..", import.meta.url).pathname;
const fixtures = join(root, "fixtures");
const out = new URL("out/", import.meta.url).pathname;
const program = process.env.DEEPSEEK_CODEC ?? join(root, "target/release/deepseek-codec");

function run(args, input = "") {
  return execFileSync(program, args, { input, encoding: "utf8", maxBuffer: 1 << 30, stdio: ["pipe", "pipe", "ignore"] });
}

/** The results of jobs, one a line in and out. */
function lines(command, jobs) {
  const results = run([command].flat(), jobs.map((job) => `${JSON.stringify(job)}\n`).join("")).split("\n");
  if (results.length !== jobs.length + 1) throw new Error(`${command}: ${results.length - 1} results of ${jobs.length} jobs`);
  return jobs.map((_, index) => JSON.parse(results[index]));
}

const jsonl = (file) => readFileSync(join(fixtures, file), "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));

/** Every request of the fixtures: bodies as text, with their protocol. */
function requestJobs() {
  const jobs = [];
  for (const file of requestFiles()) {
    const raw = readFileSync(join(fixtures, "requests", file), "utf8");
    for (const policy of ["lenient", "strict"]) jobs.push({ id: `${file}/${policy}`, protocol: protocolOf(file), policy, request_raw: raw });
  }
  for (const protocol of ["chat", "responses", "messages"]) {
    for (const { name, raw, body } of jsonl(`requests/bad/${protocol}.jsonl`)) {
      for (const dialect of ["deepseek", "vendor"]) {
        jobs.push({ id: `bad/${protocol}/${name}`, protocol, policy: "strict", dialect, request_raw: raw ?? JSON.stringify(body) });
      }
    }
    for (const { id, request } of jsonl(`protocol/golden/${protocol}.jsonl`)) {
      jobs.push({ id, protocol, policy: "lenient", request_raw: JSON.stringify(request) });
    }
  }
  for (const { name, protocol, request } of jsonl("protocol/lenient.jsonl")) {
    jobs.push({ id: `lenient/${name}`, protocol, policy: "lenient", request_raw: JSON.stringify(request) });
  }
  return jobs;
}

const requestFiles = () => readdirSync(join(fixtures, "requests")).filter((file) => file.endsWith(".json"));

function protocolOf(file) {
  const known = { "agent.json": "messages", "codex.json": "responses" };
  return known[file] ?? file.replace("lenient_", "").split(/[_.]/)[0];
}

/** A request that asks what an output of outputs.jsonl was asked for. */
function asking(protocol, { thinking = false, tools = false, json = false, stop = [] }) {
  const parameters = { type: "object", properties: {} };
  const names = ["f", "g", "n__h", "get_weather"];
  const messages = [{ role: "user", content: "Answer in JSON." }];
  const model = "deepseek-v4-pro";
  const switched = { type: thinking ? "enabled" : "disabled" };
  if (protocol === "chat") {
    return {
      model, messages, stream: true, thinking: switched, stream_options: { include_usage: true }, logprobs: true, stop,
      ...(tools && { tools: names.map((name) => ({ type: "function", function: { name, parameters } })) }),
      ...(json && { response_format: { type: "json_object" } }),
    };
  }
  if (protocol === "messages") {
    return {
      model, messages, stream: true, thinking: switched, max_tokens: 1000, stop_sequences: stop,
      ...(tools && { tools: names.map((name) => ({ name, input_schema: parameters })) }),
    };
  }
  return {
    model, input: messages, stream: true, reasoning: { effort: thinking ? "high" : "none" },
    ...(tools && { tools: [...names.slice(0, 3).map((name) => ({ type: "function", name, parameters })), { type: "custom", name: "h" }] }),
    ...(json && { text: { format: { type: "json_object" } } }),
  };
}

/** Outputs as text in one piece, as text in pieces of three characters, and as ids with log probabilities. */
function outputJobs(codec) {
  const tokenizer = new codec.Tokenizer("deepseek-v4-pro");
  const jobs = [];
  const sse = [];
  for (const asked of jsonl("output/outputs.jsonl")) {
    const finish = ["stop", "length", "content_filter"].includes(asked.finish) ? asked.finish : "stop";
    const ids = Array.from(tokenizer.encodeSpelled(asked.output));
    const logprobs = ids.map((id, index) => ({ logprob: -index / 8, top: [[id, -index / 8], [3, -9.5]] }));
    const pieces = asked.output.match(/[^]{1,3}/gu) ?? [];
    for (const protocol of ["chat", "responses", "messages"]) {
      const request_raw = JSON.stringify(asking(protocol, asked));
      for (const dialect of ["deepseek", "vendor"]) {
        const job = {
          protocol, dialect, policy: "lenient", request_raw, finish, response_id: "resp-1", created: 1700000000, seed: 7,
          usage: { prompt_tokens: 20, cached_tokens: 8 },
        };
        jobs.push({ ...job, id: `${asked.id}/${protocol}/${dialect}/whole`, chunks: [{ text: asked.output }] });
        jobs.push({ ...job, id: `${asked.id}/${protocol}/${dialect}/pieces`, chunks: pieces.map((text) => ({ text })) });
        jobs.push({ ...job, id: `${asked.id}/${protocol}/${dialect}/ids`, chunks: [{ tokens: ids, logprobs: protocol === "messages" ? undefined : logprobs }] });
      }
      sse.push({ id: `${asked.id}/${protocol}`, protocol, dialect: "vendor", raw: request_raw, finish, ids });
    }
  }
  tokenizer.free();
  return { jobs, sse };
}

/** What `decode --stream` prints. */
function decoded(job) {
  const request = join(tmpdir(), `deepseek-codec-${process.pid}.json`);
  writeFileSync(request, job.raw);
  const args = ["decode", "--stream", "--vendor", "--finish", job.finish.replace("_", "-"), "--protocol", job.protocol, request];
  return run(args, JSON.stringify(job.ids));
}

/** Half a surrogate pair, as `JSON.stringify` writes it: no text of a job. */
const LONE = /\\ud[89a-f]/i;

function maskJobs() {
  const read = (file) => JSON.parse(readFileSync(join(fixtures, file), "utf8"));
  const parsed = (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  const jobs = read("grammar/schemas.json").map(({ name, schema, accepts, rejects }) => ({
    id: `schema ${name}`,
    schema,
    tests: [...accepts, ...rejects].map(parsed).filter((data) => data !== undefined && !LONE.test(JSON.stringify(data))),
  }));
  for (const { name, request, accepts, rejects = [] } of read("grammar/tools.json")) {
    jobs.push({ id: `tools ${name}`, request, protocol: "chat", tests: [...accepts, ...rejects] });
  }
  jobs.push({ id: "regex", regex: "(?:ab|[0-9]{2,5}é?)+x*", tests: ["ab12éxx", "1234567", "abx1", "世"] });
  jobs.push({ id: "no regex", regex: "(a", tests: [] });
  jobs.push({ id: "no schema", schema: { type: "text" }, tests: [] });
  jobs.push({ id: "unsupported", schema: { $ref: "https://example.org/other" }, tests: [] });
  for (const file of ["chat_tools_required.json", "chat_json_schema.json", "chat_tools_required_flash.json"]) {
    jobs.push({ id: file, request: parsed(readFileSync(join(fixtures, "requests", file), "utf8")), protocol: "chat", tests: ["x", "{"] });
  }
  return jobs.map((job) => ({ ...job, masks: true, tests: job.tests.map((data) => ({ data })) }));
}

function maskExpectations() {
  const jobs = maskJobs();
  const sha = (base64) => createHash("sha256").update(Buffer.from(base64, "base64")).digest("hex").slice(0, 16);
  return lines("constrain", jobs).map((result, index) => {
    if (result.bad_job) throw new Error(`${jobs[index].id}: ${result.bad_job}`);
    const { id, schema, regex, request, protocol } = jobs[index];
    const expected = result.error
      ? { error: result.error }
      : { results: result.tests.map(({ accepted, masks }) => ({ accepted, masks: masks.map(sha) })) };
    return { id, schema, regex, request: request && JSON.stringify(request), protocol, tests: (result.tests ?? []).map(({ ids }) => ({ ids })), expected };
  });
}

export function makeCases(codec) {
  const { jobs, sse } = outputJobs(codec);
  const requests = [...requestJobs(), ...jobs];
  const results = lines("replay", requests);
  requests.forEach((job, index) => {
    const { id, ...expected } = results[index];
    if (expected.bad_job) throw new Error(`${job.id}: ${expected.bad_job}`);
    job.expected = expected;
  });
  const explained = requestFiles().map((file) => {
    const path = join(fixtures, "requests", file);
    const protocol = protocolOf(file);
    return { id: file, protocol, raw: readFileSync(path, "utf8"), expected: JSON.parse(run(["explain", "--json", "--protocol", protocol, path])) };
  });
  const pairs = [
    ["chat_minimal.json", "chat_prefix.json"],
    ["chat_tools_required.json", "chat_tools_named.json"],
    ["chat_minimal.json", "chat_minimal.json"],
    ["chat_minimal.json", "chat_minimal_flash.json"],
  ];
  const diffs = pairs.map((pair) => {
    const paths = pair.map((file) => join(fixtures, "requests", file));
    const expected = JSON.parse(run(["diff", "--json", "--protocol", "chat", ...paths]));
    return { id: pair.join(" "), protocol: "chat", raw: paths.map((path) => readFileSync(path, "utf8")), expected };
  });
  const texts = jsonl("tokenizer/texts.jsonl").map(({ text }) => ({ text }));
  lines(["tokenize", "--jsonl"], texts).forEach(({ ids }, index) => (texts[index].ids = ids));
  const cases = { requests, explained, diffs, texts, sse: sse.map((job) => ({ ...job, expected: decoded(job) })), masks: maskExpectations() };
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, "cases.json"), JSON.stringify(cases));
  return cases;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const { installed } = await import("./package.js");
  makeCases(await import(join(installed, "index.node.js")));
}
