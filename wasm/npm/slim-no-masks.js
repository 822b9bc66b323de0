// For browsers and bundlers: the module is fetched from beside this file.
import load from "./slim-no-masks/codec.js";

export * from "./slim-no-masks/codec.js";

export default async function init(source = new URL("./slim-no-masks/codec_bg.wasm", import.meta.url)) {
  await load({ module_or_path: source });
}
