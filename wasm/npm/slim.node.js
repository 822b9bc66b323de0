// For Node: ready when it is imported.
import { readFileSync } from "node:fs";
import { initSync } from "./slim/codec.js";

export * from "./slim/codec.js";

initSync({ module: readFileSync(new URL("./slim/codec_bg.wasm", import.meta.url)) });

export default async function init() {}
