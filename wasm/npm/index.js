// For browsers and bundlers: the module is fetched from beside this file.
import load from "./full/codec.js";

export * from "./full/codec.js";

export default async function init(source = new URL("./full/codec_bg.wasm", import.meta.url)) {
  await load({ module_or_path: source });
}
