// The playground in headless Chromium: by mouse and keyboard, on a desk and on a phone. Leaves pictures in out/.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch } from "./chromium.js";
import { serve } from "./serve.js";

const wasm = new URL("..", import.meta.url).pathname;
const pictures = `${wasm}/tests/out`;
const program = process.env.DEEPSEEK_CODEC ?? `${wasm}/../target/release/deepseek-codec`;
const native = (args, input) => execFileSync(program, args, { input, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] });

let site;
const errors = [];
before(async () => {
  mkdirSync(pictures, { recursive: true });
  site = await serve(`${wasm}/playground`);
});
after(() => site.server.close());

async function open(options) {
  const browser = await launch(options);
  const page = await browser.newPage();
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(`${site.address}/`);
  await page.getByText(/^ready in/).waitFor();
  await page.locator("#events .list details").first().waitFor();
  await page.locator("#places button").first().waitFor();
  await page.locator("#difference .first").first().waitFor();
  return { browser, page };
}

const facts = (page, place) => page.locator(`${place} .fact b`).allInnerTexts();
const count = (text) => Number(text.replaceAll(",", ""));

test("on a desk, in the light", { timeout: 120_000 }, async () => {
  const { browser, page } = await open({ viewport: { width: 1360, height: 900 }, colorScheme: "light", reducedMotion: "reduce" });
  const body = await page.locator("#body-a").inputValue();
  const ids = native(["encode", "--protocol", "chat"], body).trim().split(" ");
  assert.equal(count((await facts(page, "#facts"))[0]), ids.length);
  assert.deepEqual(await page.locator("#parts .t small").allInnerTexts(), ids);
  assert.ok((await page.locator("#parts .special").count()) >= 4);
  // The spelling of a special token in the user's text is text.
  const special = await page.locator("#parts .special").allInnerTexts();
  assert.equal(special.filter((text) => text.startsWith("<｜User｜>")).length, 1);

  const [common] = await facts(page, "#difference");
  const marked = await page.locator("#difference .first").allInnerTexts();
  assert.equal(marked.length, 2);
  assert.match(marked[0], /Monday/);
  assert.match(marked[1], /Tuesday/);
  assert.ok(count(common) > 3);

  assert.deepEqual(await page.locator("#formats .card strong").allInnerTexts(), ["Responses", "Messages"]);
  assert.match(await page.locator("#events").innerText(), /input_json_delta|content_block_delta/);
  assert.equal(await page.locator("#events .column").count(), 3);
  await page.locator("#step").focus();
  await page.keyboard.press("Home");
  assert.match(await page.locator("#step-of").innerText(), /^0 of/);
  const hidden = await page.locator("#events .list details[hidden]").count();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.ok((await page.locator("#events .list details[hidden]").count()) < hidden);
  await page.keyboard.press("End");

  const places = page.locator("#places button");
  await places.last().focus();
  await page.keyboard.press("Home");
  await page.locator('#places button[aria-selected="true"]').first().waitFor();
  await page.waitForFunction(() => document.querySelector("#places button").getAttribute("aria-selected") === "true");
  assert.match(await page.locator("#allowed").innerText(), /\{/);
  await page.keyboard.press("End");
  await page.waitForFunction(() => [...document.querySelectorAll("#places button")].at(-1).getAttribute("aria-selected") === "true");

  await page.evaluate(() => scrollTo(0, 0));
  await page.screenshot({ path: `${pictures}/playground.png` });
  for (const name of ["compare", "output", "schema"]) {
    await page.locator(`#${name}`).screenshot({ path: `${pictures}/playground-${name}.png` });
  }
  await browser.close();
  assert.deepEqual(errors, []);
});

test("refused and odd requests say why", { timeout: 120_000 }, async () => {
  const { browser, page } = await open({ viewport: { width: 1360, height: 900 } });
  await page.locator("#sample").selectOption({ label: "Refused" });
  await page.locator("#problem:not([hidden])").waitFor();
  assert.match(await page.locator("#problem").innerText(), /400 .* at messages\[1\]/);
  await page.locator("#sample").selectOption({ label: "Odd, but accepted" });
  await page.locator("#warnings li").first().waitFor();
  assert.match(await page.locator("#warnings").innerText(), /developer role/);
  await page.locator("#policy").selectOption("strict");
  await page.locator("#problem:not([hidden])").waitFor();
  await page.locator("#schemas").selectOption({ label: "Refused: another document" });
  await page.locator("#mask .problem").waitFor();
  assert.match(await page.locator("#mask .problem").innerText(), /\/properties\/a/);
  await browser.close();
  assert.deepEqual(errors, []);
});

test("a large request leaves the page awake", { timeout: 120_000 }, async () => {
  const { browser, page } = await open({ viewport: { width: 1360, height: 900 } });
  await page.locator("#sample").selectOption({ label: "Large (1 MB)" });
  await page.locator("#facts b").first().waitFor();
  await page.waitForFunction(() => Number(document.querySelector("#facts b")?.textContent.replaceAll(",", "")) > 200_000);
  const body = await page.locator("#body-a").inputValue();
  assert.ok(body.length > 900_000);
  assert.equal(count((await facts(page, "#facts"))[0]), Number(native(["count", "--protocol", "chat"], body)));
  assert.ok((await page.locator("#parts .t").count()) < 3_000);
  await page.locator("#parts details").nth(2).locator("summary").click();
  await page.locator("#parts details").nth(2).locator(".t").first().waitFor();
  await page.locator("#parts .more").first().click();
  await browser.close();
  assert.deepEqual(errors, []);
});

test("on a phone, in the dark", { timeout: 120_000 }, async () => {
  const { browser, page } = await open({ viewport: { width: 390, height: 844 }, colorScheme: "dark", deviceScaleFactor: 2, hasTouch: true, isMobile: true });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  await page.screenshot({ path: `${pictures}/playground-phone.png` });
  await page.locator("#schema").scrollIntoViewIfNeeded();
  await page.locator("#places button").first().tap();
  await page.locator("#schema").screenshot({ path: `${pictures}/playground-phone-schema.png` });
  const dark = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await dark();
  await page.locator("#theme").tap();
  assert.notEqual(await dark(), before);
  await browser.close();
  assert.deepEqual(errors, []);
});
