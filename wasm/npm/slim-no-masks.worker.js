// For Workers, where a WebAssembly file is imported as a compiled module: ready when it is imported.
import { initSync } from "./slim-no-masks/codec.js";
import module from "./slim-no-masks/codec_bg.wasm";

export * from "./slim-no-masks/codec.js";

initSync({ module });

export default async function init() {}
