export * from "./types.js";
export * from "./init.js";
export { default } from "./init.js";
