// The package in Node says what the native program says, on the crate's fixtures.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { compare } from "./checks.js";
import { installed } from "./package.js";

const entry = (file) => import(join(installed, file));
// What expected.js wrote.
const cases = JSON.parse(readFileSync(new URL("out/cases.json", import.meta.url), "utf8"));

test("there is something to compare", () => {
  assert.ok(cases.requests.length > 2500, `${cases.requests.length}`);
  assert.ok(cases.masks.flatMap(({ tests }) => tests).flatMap(({ ids }) => ids).length > 500);
  assert.ok(cases.requests.some(({ expected }) => expected.events?.length > 3));
});

test("with the vocabulary", async () => {
  assert.deepEqual(await compare(await entry("index.node.js"), cases), []);
});

test("slim, with the package's vocabulary", async () => {
  const codec = await entry("slim.node.js");
  const request = new codec.Request('{"model": "deepseek-flash", "messages": [{"role": "user", "content": "hi"}]}');
  assert.throws(() => request.ids(), { name: "CodecError", kind: "vocabulary" });
  assert.throws(() => codec.loadVocabulary(new Uint8Array(10)), { kind: "vocabulary" });
  codec.loadVocabulary(readFileSync(join(installed, "vocabulary.bin")));
  assert.deepEqual(await compare(codec, cases), []);
});

test("slim without masks", async () => {
  const codec = await entry("slim-no-masks.node.js");
  assert.equal(codec.Compiler, undefined);
  codec.loadVocabulary(readFileSync(join(installed, "vocabulary.bin")));
  assert.deepEqual(await compare(codec, cases), []);
});

const json = process.env.DEEPSEEK_TOKENIZER_JSON;
test("slim, with a tokenizer.json", { skip: !json && "DEEPSEEK_TOKENIZER_JSON names none" }, async () => {
  const codec = await entry("slim.node.js");
  codec.loadTokenizerJson(readFileSync(json), "deepseek-v4-pro");
  const tokenizer = new codec.Tokenizer("deepseek-v4-pro");
  for (const { text, ids } of cases.texts) assert.deepEqual(Array.from(tokenizer.encode(text)), ids);
});

test("a comparison can fail", async () => {
  const job = structuredClone(cases.requests.find(({ expected }) => expected.ids?.length > 3));
  job.expected.ids[2] += 1;
  const problems = await compare(await entry("index.node.js"), { requests: [job], explained: [], diffs: [], texts: [], sse: [], masks: [] });
  assert.equal(problems.length, 1);
});
