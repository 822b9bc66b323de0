// For browsers and bundlers: the module is fetched from beside this file.
import load from "./slim/codec.js";

export * from "./slim/codec.js";

export default async function init(source = new URL("./slim/codec_bg.wasm", import.meta.url)) {
  await load({ module_or_path: source });
}
