// For Workers, where a WebAssembly file is imported as a compiled module: ready when it is imported.
import { initSync } from "./slim/codec.js";
import module from "./slim/codec_bg.wasm";

export * from "./slim/codec.js";

initSync({ module });

export default async function init() {}
