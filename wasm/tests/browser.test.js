// The package in headless Chromium says what the native program says.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./chromium.js";
import { serve } from "./serve.js";

const wasm = new URL("..", import.meta.url).pathname;
let site;
let browser;
before(async () => {
  site = await serve(wasm);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  site?.server.close();
});

for (const [entry, vocabulary] of [["index.js", null], ["slim.js", "vocabulary.bin"], ["slim-no-masks.js", "vocabulary.bin"]]) {
  test(entry, { timeout: 300_000 }, async () => {
    const page = await browser.newPage();
    await page.goto(`${site.address}/tests/blank.html`);
    const problems = await page.evaluate(async ([entry, vocabulary]) => {
      const at = "/tests/out/consumer/node_modules/deepseek-codec";
      const codec = await import(`${at}/${entry}`);
      await codec.default();
      if (vocabulary) codec.loadVocabulary(new Uint8Array(await (await fetch(`${at}/${vocabulary}`)).arrayBuffer()));
      const { compare } = await import("/tests/checks.js");
      return compare(codec, await (await fetch("/tests/out/cases.json")).json());
    }, [entry, vocabulary]);
    assert.deepEqual(problems, []);
    await page.close();
  });
}
