// Questions to the worker.

const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const waiting = new Map();
let calls = 0;

worker.addEventListener("message", ({ data: { call, result, error } }) => {
  waiting.get(call)?.({ result, error });
  waiting.delete(call);
});
worker.addEventListener("error", (event) => {
  const error = { message: event.message || "the worker failed" };
  waiting.forEach((resolve) => resolve({ error }));
  waiting.clear();
});

/** Resolves to `{ result }` or `{ error }`. */
export function ask(operation, input) {
  calls += 1;
  const call = calls;
  return new Promise((resolve) => {
    waiting.set(call, resolve);
    worker.postMessage({ call, operation, input });
  });
}

/** Runs one question at a time and, of those that come meanwhile, only the last; the answers of others are stale. */
export function latest(run) {
  let running = false;
  let next = null;
  return async function again(input) {
    if (running) {
      next?.resolve({ stale: true });
      return new Promise((resolve) => (next = { input, resolve }));
    }
    running = true;
    const answer = await run(input);
    running = false;
    if (!next) return answer;
    const { input: later, resolve } = next;
    next = null;
    again(later).then(resolve);
    return { stale: true };
  };
}
