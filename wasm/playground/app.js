// The page: what is typed goes to the worker, what comes back is shown.

import { ask, latest } from "./ask.js";
import { card, element, pretty, tokenChip } from "./elements.js";
import { startOutput } from "./output.js";
import { outputs, requests, schemas, second } from "./samples.js";
import { startSchema } from "./schema.js";

const at = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
/** How many tokens of a part are shown at a time. */
const PAGE = 400;
const NAMES = { chat: "Chat Completions", responses: "Responses", messages: "Messages" };

const openA = latest(({ body, options }) => ask("open", { side: "a", body, options }));
const openB = latest(({ body, options }) => ask("open", { side: "b", body, options }));
let showOutput = () => {};

function options() {
  const chosen = { protocol: at("protocol").value, model: at("model").value, policy: at("policy").value };
  return Object.fromEntries(Object.entries(chosen).filter(([, value]) => value));
}

async function showRequest() {
  const { result, error, stale } = await openA({ body: at("body-a").value, options: options() });
  if (stale) return;
  at("problem").hidden = !error;
  at("facts").replaceChildren();
  at("warnings").replaceChildren();
  at("parts").replaceChildren();
  at("formats").replaceChildren();
  if (error) {
    showProblem(error);
    at("difference").replaceChildren();
    showOutput(null);
    return;
  }
  showFacts(result);
  at("warnings").append(...result.settings.warnings.map(warning));
  showParts(result.explanation);
  showFormats();
  showDifference();
  showOutput(result);
}

function showProblem({ message, kind, path, status, body }) {
  const place = path ? ` at ${path}` : "";
  at("problem").replaceChildren(element("strong", {}, `${status ?? "Error"} ${kind ?? ""}${place}`), element("p", {}, message), body ? element("code", {}, JSON.stringify(body)) : "");
}

function showFacts({ protocol, model, size, milliseconds, settings, explanation }) {
  const facts = [
    [number.format(explanation.tokens), "tokens"],
    [number.format(explanation.bytes), "bytes of prompt"],
    [NAMES[protocol], `${number.format(size)} bytes of request`],
    [model.replace("DeepSeek-", ""), settings.thinking ? "thinking" : "no thinking"],
    [`${milliseconds.toFixed(1)} ms`, "request to ids"],
  ];
  if (settings.sampling.constraint) facts.push([settings.sampling.constraint.kind, "constraint"]);
  at("facts").append(...facts.map(([value, name]) => element("div", { class: "fact" }, element("b", {}, value), element("span", {}, name))));
}

const warning = ({ kind, path, message }) => element("li", {}, element("b", {}, kind.replaceAll("_", " ")), " ", element("code", {}, path || "request"), ` ${message}`);

/** The prompt, part by part. A part's tokens are made when it is opened. */
function showParts({ parts, tokens }) {
  let from = 0;
  const most = Math.max(...parts.map((part) => part.tokens), 1);
  const shown = parts.filter((part) => part.tokens > 0);
  for (const part of shown) {
    const range = { from, to: from + part.tokens };
    from = range.to;
    const summary = element(
      "summary", {},
      element("span", { class: "name" }, element("b", {}, part.label), element("span", { class: "says" }, part.summary)),
      element("span", { class: "n" }, element("b", {}, number.format(part.tokens)), " tokens"),
      element("span", { class: "n" }, `${number.format(part.bytes)} bytes`),
    );
    const share = element("span", { class: "share" });
    share.style.setProperty("--share", `${(100 * part.tokens) / most}%`);
    summary.append(share);
    const details = element("details", {}, summary);
    details.addEventListener("toggle", () => details.open && details.childElementCount === 1 && fill(details, range));
    details.open = tokens <= 1500 || part === shown[0] || part === shown.at(-1);
    at("parts").append(details);
  }
}

async function fill(details, { from, to }) {
  const list = element("div", { class: "tokens" });
  details.append(list);
  const more = async (from) => {
    const end = Math.min(to, from + PAGE);
    const { result } = await ask("tokens", { side: "a", from, to: end });
    list.append(...(result ?? []).map((token, index) => tokenChip(token, from + index)));
    if (end === to) return;
    const button = element("button", { class: "more", type: "button" }, `${number.format(to - end)} more tokens`);
    button.addEventListener("click", () => {
      button.remove();
      more(end);
    });
    details.append(button);
  };
  await more(from);
}

async function showFormats() {
  const { result } = await ask("formats", { side: "a" });
  at("formats").replaceChildren(...(result ?? []).map(({ protocol, body }) => {
    if (!body) return card(NAMES[protocol], [], element("p", { class: "bar" }, "This format cannot say what the request says."));
    const use = element("button", { type: "button" }, "Use");
    use.addEventListener("click", () => setRequest(pretty(body), protocol));
    const copy = element("button", { type: "button" }, "Copy");
    copy.addEventListener("click", () => navigator.clipboard?.writeText(pretty(body)));
    const text = pretty(body);
    return card(NAMES[protocol], [copy, use], element("pre", {}, text.length > 20_000 ? `${text.slice(0, 20_000)}\n… ${number.format(text.length - 20_000)} more characters` : text));
  }));
}

function setRequest(body, protocol = "") {
  at("body-a").value = body;
  at("protocol").value = protocol;
  showRequest();
}

const compare = latest(() => ask("diff", {}));

async function showDifference() {
  const body = at("body-b").value;
  if (!body.trim()) return at("difference").replaceChildren();
  const opened = await openB({ body, options: { ...options(), protocol: undefined } });
  if (opened.stale) return;
  if (opened.error) return at("difference").replaceChildren(element("p", { class: "problem" }, opened.error.message));
  const { result, error, stale } = await compare();
  if (stale || error) return;
  const { tokens, common, sides, reason, before, around } = result;
  if (!sides) return at("difference").replaceChildren(element("p", { class: "card" }, "The prompts are the same: a prefix cache reuses all of it."));
  const reused = element("div", { class: "meter" });
  reused.style.setProperty("--share", `${(100 * common) / tokens[1]}%`);
  const strips = ["First", "Second"].map((name, side) => {
    const chips = around[side].map((token, index) => {
      const chip = tokenChip(token, common - before + index);
      if (index === before) chip.classList.add("first");
      if (index > before) chip.classList.add("after");
      return chip;
    });
    if (around[side].length <= before) chips.push(element("span", { class: "t first" }, "ends here"));
    return element("div", { class: "strip" }, element("b", {}, `${name}: ${sides[side].label}`), element("div", { class: "tokens" }, ...chips));
  });
  at("difference").replaceChildren(
    element("div", { class: "facts" },
      element("div", { class: "fact" }, element("b", {}, number.format(common)), element("span", {}, "tokens in common")),
      element("div", { class: "fact" }, element("b", {}, `${Math.floor((100 * common) / tokens[1])} %`), element("span", {}, "of the second request reused")),
      element("div", { class: "fact" }, element("b", {}, `${number.format(tokens[0])} / ${number.format(tokens[1])}`), element("span", {}, "tokens of each"))),
    reused,
    element("p", {}, element("strong", {}, "Why: "), reason),
    ...strips,
  );
}

function choose(select, entries, use) {
  select.append(...entries.map(([name], index) => element("option", { value: String(index) }, name)));
  select.addEventListener("change", () => use(entries[Number(select.value)]));
}

function debounced(run, wait = 150) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, wait);
  };
}

function startTheme() {
  const stored = localStorage.getItem("theme");
  if (stored) document.documentElement.dataset.theme = stored;
  at("theme").addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
    localStorage.setItem("theme", document.documentElement.dataset.theme);
  });
}

async function start() {
  startTheme();
  choose(at("sample"), requests, ([, body]) => setRequest(body()));
  for (const id of ["protocol", "model", "policy"]) at(id).addEventListener("change", showRequest);
  at("body-a").addEventListener("input", debounced(showRequest));
  at("body-b").addEventListener("input", debounced(showDifference));
  at("ids").addEventListener("change", () => document.body.classList.toggle("no-ids", !at("ids").checked));
  at("file").addEventListener("change", async () => at("file").files[0] && setRequest(await at("file").files[0].text()));
  at("copy-a").addEventListener("click", () => {
    at("body-b").value = at("body-a").value;
    showDifference();
  });
  at("body-b").value = second;
  showOutput = startOutput(outputs, choose, debounced);
  startSchema(schemas, choose, debounced);
  setRequest(requests[0][1]());
  const { result, error } = await ask("ready");
  at("status").textContent = error ? `The module did not load: ${error.message}` : `ready in ${Math.round(result.milliseconds)} ms`;
}

start();
