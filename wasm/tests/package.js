// The packed package, unpacked where a user would have it: tests import it from there by its name.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const wasm = new URL("..", import.meta.url).pathname;
export const consumer = join(wasm, "tests/out/consumer");
export const installed = join(consumer, "node_modules/deepseek-codec");

export function install() {
  const [tarball] = readdirSync(wasm).filter((file) => file.endsWith(".tgz"));
  rmSync(consumer, { recursive: true, force: true });
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["xzf", join(wasm, tarball), "--strip-components=1", "-C", installed]);
}
