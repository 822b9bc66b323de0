// How the module is made ready.

/** Where the WebAssembly module comes from. */
export type ModuleSource = string | URL | Request | Response | BufferSource | WebAssembly.Module | Promise<Response>;

/**
 * Makes the package ready; call it before anything else. In Node and Workers the module is ready when the package is
 * imported, and this does nothing. In browsers it is fetched from beside the package's code, or from `source`.
 */
export default function init(source?: ModuleSource): Promise<void>;

/** Makes the package ready from a compiled module or its bytes. */
export declare function initSync(source: { module: WebAssembly.Module | BufferSource }): void;
