// For Workers, where a WebAssembly file is imported as a compiled module: ready when it is imported.
import { initSync } from "./full/codec.js";
import module from "./full/codec_bg.wasm";

export * from "./full/codec.js";

initSync({ module });

export default async function init() {}
