import type { AnyModel } from "./types.js";

export * from "./types.js";
export * from "./init.js";
export { default } from "./init.js";

/** Takes the vocabulary of all models from the bytes of the package's `vocabulary.bin`. */
export declare function loadVocabulary(bytes: Uint8Array): void;
/** Takes the vocabulary of one model from the bytes of a Hugging Face `tokenizer.json`. */
export declare function loadTokenizerJson(bytes: Uint8Array, model: AnyModel): void;
