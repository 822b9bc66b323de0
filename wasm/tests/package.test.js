// What the package exports, how it is loaded, its errors and its memory.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { consumer, installed } from "./package.js";

const codec = await import(join(installed, "index.node.js"));
const glue = await import(join(installed, "full/codec.js"));

const node = (args, options = {}) => execFileSync(process.execPath, args, { encoding: "utf8", cwd: consumer, ...options });

test("the types name what the module has, and nothing else", () => {
  const types = readFileSync(join(installed, "types.d.ts"), "utf8");
  const declared = new Map();
  for (const [, name, body] of types.matchAll(/^export declare class (\w+)[^{]*\{\n([^]*?)^\}/gm)) {
    const members = [...body.matchAll(/^  (?:readonly )?(\w+)[(<?:]/gm)].map(([, member]) => member);
    declared.set(name, members.filter((member) => !["constructor", "private"].includes(member)).sort());
  }
  const has = new Map();
  for (const [name, value] of Object.entries(codec)) {
    if (typeof value !== "function" || !value.prototype || name === "default" || !/^[A-Z]/.test(name)) continue;
    const members = Object.getOwnPropertyNames(value.prototype).filter((member) => !["constructor", "__destroy_into_raw"].includes(member));
    has.set(name, members.sort());
  }
  assert.deepEqual(Object.fromEntries([...declared].sort()), Object.fromEntries([...has].sort()));
  const functions = [...types.matchAll(/^export declare function (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(functions.sort(), ["models", "version"]);
  functions.forEach((name) => assert.equal(typeof codec[name], "function"));
  assert.doesNotMatch(types, /[:<|] *any\b/);
});

test("version and models", () => {
  assert.equal(codec.version(), JSON.parse(readFileSync(join(installed, "package.json"), "utf8")).version);
  assert.deepEqual(codec.models().map(({ name }) => name), ["DeepSeek-V4-Pro", "DeepSeek-V4.1-Flash"]);
});

test("errors have kind, path, status and body", () => {
  const bad = { model: "deepseek-flash", messages: [{ role: "user", content: [{ type: "text" }] }] };
  assert.throws(() => new codec.Request(bad, { protocol: "chat" }), (error) => {
    assert.ok(error instanceof Error);
    assert.deepEqual([error.name, error.kind, error.path, error.status], ["CodecError", "type", "messages[0].content[0]", 400]);
    assert.equal(error.body.error.type, "invalid_request_error");
    assert.equal(error.body.error.message, error.message);
    return true;
  });
  assert.throws(() => new codec.Request(bad, { protocol: "messages", dialect: "vendor" }), (error) => error.body.type === "error");
  assert.throws(() => new codec.Request("x".repeat(2000), { protocol: "chat", maxBodyBytes: 1000 }), { kind: "too_large", status: 413 });
  assert.throws(() => new codec.Request(bad, { polcy: "strict" }), { kind: "option", path: "polcy" });
  assert.throws(() => new codec.Request(bad, { policy: "loose" }), { kind: "option", path: "policy" });
  assert.throws(() => new codec.Request(bad, 7), { kind: "option" });
  assert.throws(() => new codec.Request(undefined), { kind: "option" });
  assert.throws(() => new codec.Tokenizer("gpt"), { kind: "model" });
  const compiler = new codec.Compiler("deepseek-flash");
  assert.throws(() => compiler.schema({ type: "object", properties: { a: { $ref: "#/$defs/x" } } }), { kind: "schema", path: "/properties/a" });
  assert.throws(() => compiler.schema("{"), { kind: "schema" });
  assert.throws(() => compiler.regex("("), { kind: "regex" });
  assert.throws(() => compiler.json({ whitespace: "tabs" }), { kind: "option", path: "whitespace" });
  const unsupported = { type: "string", not: { format: "uri" } };
  assert.throws(() => compiler.schema(unsupported), { kind: "unsupported" });
  const relaxed = compiler.schema(unsupported, { relax: true });
  assert.deepEqual(relaxed.leftOut().map(({ tool, path }) => [tool, path]), [[null, "/not"]]);
  assert.deepEqual(compiler.json().leftOut(), []);
  const matcher = compiler.json().matcher();
  assert.throws(() => matcher.fillMask(new Uint32Array(3)), { kind: "option", path: "mask" });
  assert.throws(() => matcher.accept(1), { kind: "token" });
  const ids = new codec.Tokenizer("deepseek-flash").encode('{"a": 1} {');
  assert.equal(matcher.tryAccept(ids), ids.length - 1);
  assert.ok(matcher.isComplete());
  assert.ok(matcher.places().length > 0);
  const request = new codec.Request({ model: "deepseek-flash", messages: [{ role: "user", content: "hi" }] });
  assert.equal(compiler.request(request), undefined);
  assert.throws(() => request.maxTokens(3), { kind: "context_length", status: 400 });
  assert.equal(request.maxTokens(100_000), 65_536);
  assert.throws(() => request.stream().finish("tired"), { kind: "option" });
  assert.throws(() => request.stream().pushIds([5], [{ logprob: "x" }]), { kind: "option" });
});

test("options reach the library", () => {
  const body = { model: "my-model", messages: [{ role: "user", content: "hi" }] };
  assert.throws(() => new codec.Request(body), { kind: "model", path: "model" });
  assert.equal(new codec.Request(body, { models: { "my-model": "deepseek-flash" } }).model, "DeepSeek-V4.1-Flash");
  assert.equal(new codec.Request(body, { model: "deepseek-v4-pro" }).model, "DeepSeek-V4-Pro");
  assert.equal(new codec.Request(body, { model: "deepseek-v4-pro", defaultThinking: false }).settings().thinking, false);
  const request = new codec.Request(body, { model: "deepseek-v4-pro" });
  assert.equal(request.protocol, "chat");
  assert.ok(request.exceeds(2) && !request.exceeds(request.count()));
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  assert.equal(new codec.Request(bytes, { model: "deepseek-v4-pro" }).prompt(), request.prompt());
  for (const protocol of ["chat", "responses", "messages"]) {
    const other = new codec.Request(request.convert(protocol), { protocol });
    assert.equal(other.prompt(), request.prompt());
  }
  assert.throws(() => request.convert("soap"), { kind: "option" });
  const stream = request.stream({ id: "a", created: 5, seed: 2 ** 40, systemFingerprint: "e" });
  stream.pushText("Hi</think>Hello", 3);
  assert.equal(stream.ended, false);
  stream.finish();
  assert.equal(stream.ended, true);
  const response = stream.response();
  assert.deepEqual([response.id, response.created, response.system_fingerprint], ["a", 5, "e"]);
  assert.equal(stream.usage().prompt, request.count());
  assert.match(stream.ping(), /keep-alive/);
  const failed = request.sse();
  assert.match(failed.fail("no memory"), /no memory/);
});

test("the package is found by its name, by each way of loading it", () => {
  const program = `
    import init, { Request, version } from "deepseek-codec";
    import { Tokenizer } from "deepseek-codec/slim/no-masks";
    await init();
    console.log(version(), new Request('{"model": "deepseek-flash", "messages": [{"role": "user", "content": "hi"}]}').count(), typeof Tokenizer);`;
  assert.equal(node(["--input-type=module", "-e", program]), "0.1.0 31 function\n");
  // A WebAssembly file is imported as a compiled module, as in Workers.
  writeFileSync(join(consumer, "loader.mjs"), `
    import { readFile } from "node:fs/promises";
    export async function load(url, context, next) {
      if (!url.endsWith(".wasm")) return next(url, context);
      const bytes = (await readFile(new URL(url))).toString("base64");
      const source = "export default new WebAssembly.Module(Uint8Array.from(atob('" + bytes + "'), (c) => c.charCodeAt(0)))";
      return { format: "module", source, shortCircuit: true };
    }`);
  writeFileSync(join(consumer, "register.mjs"), `import { register } from "node:module"; register("./loader.mjs", import.meta.url);`);
  assert.equal(node(["-C", "workerd", "--import", "./register.mjs", "--input-type=module", "-e", program]), "0.1.0 31 function\n");
  // Where nothing else fits: the caller's own module.
  const own = `
    import { readFileSync } from "node:fs";
    import { Request, initSync } from "deepseek-codec/web";
    initSync({ module: new WebAssembly.Module(readFileSync(new URL(import.meta.resolve("deepseek-codec/codec.wasm")))) });
    console.log(new Request('{"model": "deepseek-flash", "messages": [{"role": "user", "content": "hi"}]}').count());`;
  assert.equal(node(["--input-type=module", "-e", own]), "31\n");
});

test("the examples of the README run", () => {
  const readme = readFileSync(join(installed, "README.md"), "utf8");
  const examples = [...readme.matchAll(/^```js\n([^]*?)^```/gm)].map(([, code]) => code);
  assert.equal(examples.length, 3);
  mkdirSync(consumer, { recursive: true });
  const outputs = examples.map((code, index) => {
    const file = join(consumer, `example${index}.mjs`);
    writeFileSync(file, code);
    return node([file]);
  });
  assert.match(outputs[0], /<｜User｜>Hello!/);
  assert.match(outputs[1], /event: message_stop/);
});

test("memory does not grow", () => {
  const { memory } = glue.initSync({ module: new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)) });
  const body = new TextEncoder().encode('{"model": "deepseek-flash", "messages": [{"role": "user", "content": "How far is 世界? 🙂"}]}');
  const tokenizer = new codec.Tokenizer("deepseek-flash");
  const ids = tokenizer.encodeSpelled("why</think>\n\nVery far, my friend.");
  const compiler = new codec.Compiler("deepseek-flash");
  const constraint = compiler.schema({ type: "object", properties: { a: { type: "string", maxLength: 4 } } });
  const answer = tokenizer.encode('{"a": "xyz"}');
  const mask = new Uint32Array(constraint.maskWords);
  const round = (index) => {
    const request = new codec.Request(body, { protocol: "chat" });
    request.ids();
    const stream = request.stream();
    stream.pushIds(ids);
    stream.finish();
    stream.free();
    request.free();
    tokenizer.encode(`text ${index}`);
    if (index % 10 === 0) {
      const matcher = constraint.matcher();
      for (const id of answer) {
        matcher.fillMask(mask);
        matcher.accept(id);
      }
      matcher.free();
    }
    try {
      new codec.Request("{", { protocol: "chat" });
    } catch {}
  };
  for (let index = 0; index < 2_000; index += 1) round(index);
  const before = memory.buffer.byteLength;
  globalThis.gc();
  const heap = process.memoryUsage().heapUsed;
  for (let index = 0; index < 100_000; index += 1) round(index);
  globalThis.gc();
  assert.equal(memory.buffer.byteLength, before);
  const grown = process.memoryUsage().heapUsed - heap;
  assert.ok(grown < 2_000_000, `${grown} bytes of JavaScript's own heap`);
});
