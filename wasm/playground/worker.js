// The library, off the page's thread: large requests do not hold the page up.

import init, { Compiler, Request, Tokenizer, models } from "./deepseek-codec/index.js";

const begun = performance.now();
const ready = init().then(() => {
  new Tokenizer(models()[0].name).free();
  return performance.now() - begun;
});

const PROTOCOLS = ["chat", "responses", "messages"];
/** How many tokens of an output are replayed. */
const MOST_STEPS = 3000;
/** How many allowed tokens are listed. */
const MOST_LISTED = 400;

/** What is open on each side: the request, and its prompt in pieces. */
const sides = { a: null, b: null };
const encoder = new TextEncoder();
const strict = new TextDecoder("utf-8", { fatal: true });
const tokenizers = new Map();
const compilers = new Map();

const tokenizerOf = (model) => remembered(tokenizers, model, () => new Tokenizer(model));

function remembered(map, key, make) {
  if (!map.has(key)) map.set(key, make());
  return map.get(key);
}

/** A token for people: its text, or its bytes where they are no whole characters. */
function shown(bytes) {
  try {
    return { text: strict.decode(bytes) };
  } catch {
    return { bytes: Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ") };
  }
}

function token(tokenizer, id) {
  const bytes = tokenizer.tokenBytes(id);
  return bytes ? { id, ...shown(bytes) } : { id, text: tokenizer.spelling(id) ?? "", special: true };
}

const operations = {
  async ready() {
    return { milliseconds: await ready, models: models() };
  },

  open({ side, body, options }) {
    sides[side]?.request.free();
    sides[side] = null;
    const begun = performance.now();
    const request = new Request(body, options);
    const ids = request.ids();
    const milliseconds = performance.now() - begun;
    sides[side] = { request, ids };
    const explanation = request.explain();
    return { protocol: request.protocol, model: request.model, size: encoder.encode(body).length, milliseconds, settings: request.settings(), explanation };
  },

  tokens({ side, from, to }) {
    const { request, ids } = sides[side];
    const tokenizer = tokenizerOf(request.model);
    return Array.from(ids.subarray(from, to), (id) => token(tokenizer, id));
  },

  formats({ side }) {
    const { request } = sides[side];
    return PROTOCOLS.filter((protocol) => protocol !== request.protocol).map((protocol) => ({ protocol, body: request.convert(protocol) }));
  },

  diff() {
    const { a, b } = sides;
    const difference = a.request.diff(b.request);
    const around = ["a", "b"].map((side) => operations.tokens({ side, from: Math.max(0, difference.common - 40), to: difference.common + 24 }));
    return { ...difference, before: Math.min(40, difference.common), around };
  },

  output({ text }) {
    const { request } = sides.a;
    const tokenizer = tokenizerOf(request.model);
    const all = tokenizer.encodeSpelled(text);
    const ids = all.subarray(0, MOST_STEPS);
    const columns = PROTOCOLS.map((protocol) => {
      const body = protocol === request.protocol ? null : request.convert(protocol);
      if (body === undefined) return { protocol };
      const own = body ? new Request(body, { protocol }) : request;
      const stream = own.stream({ id: "resp-1", seed: 1 });
      const events = [];
      const add = (step, sent) => sent.forEach(({ event, data }) => events.push({ step, event, data }));
      add(0, stream.start());
      ids.forEach((id, index) => add(index + 1, stream.pushIds([id])));
      add(ids.length + 1, stream.finish("stop"));
      const result = { protocol, events, response: stream.response(), warnings: stream.warnings() };
      stream.free();
      if (own !== request) own.free();
      return result;
    });
    return { tokens: Array.from(ids, (id) => token(tokenizer, id)), left: all.length - ids.length, columns };
  },

  mask({ schema, text, place }) {
    const model = models().at(-1).name;
    const compiler = remembered(compilers, model, () => new Compiler(model));
    const tokenizer = tokenizerOf(model);
    const begun = performance.now();
    const constraint = compiler.schema(schema);
    const compiled = performance.now() - begun;
    const matcher = constraint.matcher();
    const ids = tokenizer.encode(text).subarray(0, 2000);
    const mask = new Uint32Array(constraint.maskWords);
    const places = [];
    let at = null;
    for (let index = 0; index <= ids.length; index += 1) {
      const begun = performance.now();
      matcher.fillMask(mask);
      const filled = performance.now() - begun;
      const allowed = mask.reduce((sum, word) => sum + bits(word), 0);
      const id = ids[index];
      const last = id === undefined || !((mask[id >> 5] >>> (id & 31)) & 1);
      places.push({ allowed, refused: last && id !== undefined });
      if (index === place || (last && at === null)) {
        at = {
          index, allowed, filled, complete: matcher.isComplete(), where: matcher.places(),
          forced: tokenizer.decode(matcher.forced()), list: listed(mask, tokenizer),
        };
      }
      if (last) break;
      matcher.accept(id);
    }
    matcher.free();
    constraint.free();
    return { compiled, tokens: Array.from(ids, (id) => token(tokenizer, id)), places, at, of: tokenizer.length };
  },
};

function bits(word) {
  let rest = word - ((word >>> 1) & 0x55555555);
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return (((rest + (rest >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/** The first tokens that a mask allows. */
function listed(mask, tokenizer) {
  const found = [];
  for (let word = 0; word < mask.length && found.length < MOST_LISTED; word += 1) {
    for (let rest = mask[word]; rest !== 0 && found.length < MOST_LISTED; rest &= rest - 1) {
      found.push(token(tokenizer, word * 32 + (31 - Math.clz32(rest & -rest))));
    }
  }
  // White space comes last: there is much of it, and it says little.
  const blank = ({ text }) => text !== undefined && text.trim() === "";
  return [...found.filter((token) => !blank(token)), ...found.filter(blank)];
}

addEventListener("message", async ({ data: { call, operation, input } }) => {
  try {
    await ready;
    postMessage({ call, result: await operations[operation](input ?? {}) });
  } catch (error) {
    const { message, kind, path, status, body } = error;
    postMessage({ call, error: { message, kind, path, status, body } });
  }
});
