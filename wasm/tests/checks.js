// The comparisons with the native program, run alike in Node and in browsers. `codec` is the package, `cases` is what
// expected.js wrote.

const utf8 = new TextDecoder();

/** What differs: a list of texts, empty if all is equal. */
export async function compare(codec, cases) {
  const problems = [];
  const check = (name, ours, native) => {
    const [a, b] = [ours, native].map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
    if (a !== b && problems.length < 20) {
      let at = 0;
      while (a[at] === b[at]) at += 1;
      problems.push(`${name}: ours …${a.slice(Math.max(0, at - 60), at + 80)} native …${b.slice(Math.max(0, at - 60), at + 80)}`);
    }
  };
  for (const job of cases.requests) check(`request ${job.id}`, answer(codec, job), job.expected);
  for (const job of cases.explained) {
    const request = new codec.Request(job.raw, { protocol: job.protocol });
    check(`explain ${job.id}`, request.explain(), job.expected);
    check(`starts ${job.id}`, cut(codec, request), request.prompt());
    request.free();
  }
  for (const job of cases.diffs) {
    const [a, b] = job.raw.map((raw) => new codec.Request(raw, { protocol: job.protocol }));
    check(`diff ${job.id}`, a.diff(b), job.expected);
    a.free();
    b.free();
  }
  const tokenizer = new codec.Tokenizer(codec.models()[0].name);
  for (const { text, ids } of cases.texts) {
    check(`encode ${text.slice(0, 40)}`, Array.from(tokenizer.encode(text)), ids);
    check(`count ${text.slice(0, 40)}`, tokenizer.count(text), ids.length);
    check(`decode ${text.slice(0, 40)}`, tokenizer.decode(ids), text);
  }
  for (const job of cases.sse) check(`sse ${job.id}`, sse(codec, job), job.expected);
  if (codec.Compiler) {
    const compilers = new Map(codec.models().map(({ name }) => [name, new codec.Compiler(name)]));
    for (const job of cases.masks) check(`masks ${job.id}`, await masks(codec, compilers, job), job.expected);
    compilers.forEach((compiler) => compiler.free());
  }
  return problems;
}

/** Answers a job of the native program's `replay`. */
function answer(codec, job) {
  let request;
  const options = { protocol: job.protocol, policy: job.policy, dialect: job.dialect };
  try {
    request = new codec.Request(job.request_raw, options);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "CodecError") throw error;
    return { status: error.status, error: error.body, kind: error.kind, path: error.path };
  }
  const report = request.report();
  if (report.ids.join() !== request.ids().join() || request.count() !== report.ids.length) return "ids and report differ";
  if (report.prompt !== request.prompt()) return "prompt and report differ";
  const settings = request.settings();
  if (JSON.stringify(settings) !== JSON.stringify(Object.fromEntries(Object.keys(settings).map((key) => [key, report[key]])))) {
    return "settings and report differ";
  }
  if (job.chunks) {
    const stream = request.stream({
      id: job.response_id,
      created: job.created,
      seed: job.seed,
      dialect: job.dialect,
      promptTokens: job.usage.prompt_tokens,
      cachedTokens: job.usage.cached_tokens,
    });
    const events = stream.start();
    for (const chunk of job.chunks) {
      events.push(...(chunk.tokens ? stream.pushIds(chunk.tokens, chunk.logprobs) : stream.pushText(chunk.text, 1)));
    }
    events.push(...stream.finish(job.finish));
    report.events = events.filter(({ data }) => data !== "[DONE]").map(({ event, data }) => ({ event: event ?? null, data }));
    report.response = stream.response();
    const warnings = stream.warnings().map(({ kind, at }) => ({ kind, path: `output[${at}]`, message: kind.replaceAll("_", " ") }));
    report.warnings = report.warnings.concat(warnings);
    stream.free();
  }
  request.free();
  return report;
}

/** The prompt, put together from its tokens. */
function cut(codec, request) {
  const tokenizer = new codec.Tokenizer(request.model);
  const bytes = new TextEncoder().encode(request.prompt());
  const [ids, starts] = [request.ids(), request.starts()];
  const pieces = [];
  for (let index = 0; index < ids.length; index += 1) {
    const piece = bytes.subarray(starts[index], starts[index + 1] ?? bytes.length);
    const own = tokenizer.tokenBytes(ids[index]);
    if (own && (own.length !== piece.length || own.some((byte, at) => byte !== piece[at]))) return `token ${index} is not at ${starts[index]}`;
    pieces.push(...piece);
  }
  tokenizer.free();
  return utf8.decode(Uint8Array.from(pieces));
}

function sse(codec, job) {
  const request = new codec.Request(job.raw, { protocol: job.protocol, policy: "lenient" });
  const stream = request.sse({ dialect: job.dialect });
  let text = stream.start();
  for (const id of job.ids) text += stream.pushIds([id]);
  text += stream.finish(job.finish);
  stream.free();
  request.free();
  return text;
}

/** Verdicts, ids and the digest of each mask, as `expected.js` makes them of what `constrain` says. */
async function masks(codec, compilers, job) {
  let constraint;
  let request;
  try {
    if (job.request) {
      request = new codec.Request(job.request, { protocol: job.protocol });
      constraint = compilers.get(request.model).request(request);
    } else {
      const compiler = compilers.get(codec.models().at(-1).name);
      constraint = job.regex === undefined ? compiler.schema(job.schema) : compiler.regex(job.regex);
    }
  } catch (error) {
    return { error: error.message };
  }
  const mask = new Uint32Array(constraint.maskWords);
  const results = [];
  for (const test of job.tests) {
    const matcher = constraint.matcher();
    const digests = [];
    let accepted = true;
    for (const id of test.ids) {
      matcher.fillMask(mask);
      digests.push(await digest(mask));
      const allowed = (mask[id >> 5] >>> (id & 31)) & 1;
      if (!allowed) {
        accepted = false;
        if (matcher.tryAccept([id]) !== 0) return "a token that the mask forbids was taken";
        break;
      }
      const forced = matcher.forced();
      if (forced.length > 0 && !((mask[forced[0] >> 5] >>> (forced[0] & 31)) & 1)) return "a token is forced that the mask forbids";
      matcher.accept(id);
      matcher.rollback(1);
      matcher.accept(id);
    }
    accepted &&= matcher.isComplete();
    results.push({ accepted, masks: digests });
    matcher.free();
  }
  constraint.free();
  request?.free();
  return { results };
}

export async function digest(mask) {
  const hash = await crypto.subtle.digest("SHA-256", new Uint8Array(mask.buffer, mask.byteOffset, mask.byteLength));
  return Array.from(new Uint8Array(hash, 0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
