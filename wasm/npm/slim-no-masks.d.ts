export type * from "./types.js";
export { Request, Stream, Tokenizer, models, version } from "./types.js";
export { default, initSync, loadVocabulary, loadTokenizerJson, type ModuleSource } from "./slim.js";
