// For Node: ready when it is imported.
import { readFileSync } from "node:fs";
import { initSync } from "./slim-no-masks/codec.js";

export * from "./slim-no-masks/codec.js";

initSync({ module: readFileSync(new URL("./slim-no-masks/codec_bg.wasm", import.meta.url)) });

export default async function init() {}
