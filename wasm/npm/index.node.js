// For Node: ready when it is imported.
import { readFileSync } from "node:fs";
import { initSync } from "./full/codec.js";

export * from "./full/codec.js";

initSync({ module: readFileSync(new URL("./full/codec_bg.wasm", import.meta.url)) });

export default async function init() {}
