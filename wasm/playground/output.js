// Generated tokens become the events of three APIs.

import { ask, latest } from "./ask.js";
import { element, pretty, tokenChip } from "./elements.js";

const at = (id) => document.getElementById(id);
const NAMES = { chat: "Chat Completions", responses: "Responses", messages: "Messages" };
/** A replay takes at most so many milliseconds. */
const LONGEST = 12_000;

const replay = latest((text) => ask("output", { text }));
let shown = null;
let timer = null;

/** Returns what is to be called when another request is open: with what is known of it, or null if it is refused. */
export function startOutput(outputs, choose, debounced) {
  choose(at("outputs"), outputs, ([, text]) => {
    at("generated").value = text;
    show();
  });
  at("generated").value = outputs[0][1];
  at("generated").addEventListener("input", debounced(show));
  at("step").addEventListener("input", () => {
    stop();
    goTo(Number(at("step").value));
  });
  at("play").addEventListener("click", () => (timer ? stop() : play()));
  return (request) => (request ? show() : clear("The request is refused: it has no output."));
}

function clear(message) {
  stop();
  shown = null;
  at("fed").replaceChildren(message);
  at("events").replaceChildren();
}

async function show() {
  const { result, error, stale } = await replay(at("generated").value);
  if (stale) return;
  if (error) return clear(error.message);
  stop();
  const chips = result.tokens.map(tokenChip);
  const rest = result.left > 0 ? [` and ${result.left} tokens more, which are not replayed`] : [];
  at("fed").replaceChildren(...chips, ...rest);
  const columns = result.columns.map(column);
  at("events").replaceChildren(...columns.map(({ node }) => node));
  shown = { chips, columns, last: result.tokens.length + 1 };
  at("step").max = String(shown.last);
  goTo(shown.last);
}

function column({ protocol, events, response, warnings = [] }) {
  const count = element("span", {});
  const title = element("h3", {}, NAMES[protocol], count);
  if (!events) {
    return { node: element("div", { class: "column" }, title, element("p", { class: "bar" }, "This format cannot say what the request says.")), rows: [], count };
  }
  const list = element("div", { class: "list", tabindex: "0", "aria-label": `Events of ${NAMES[protocol]}` });
  const rows = events.map(({ step, event, data }) => {
    const summary = element("summary", {}, element("b", {}, nameOf(event, data)), " ", element("i", {}, deltaOf(data)));
    const row = element("details", {}, summary);
    row.addEventListener("toggle", () => row.open && row.childElementCount === 1 && row.append(element("pre", {}, pretty(data))));
    list.append(row);
    return { step, row };
  });
  const complete = element("details", {}, element("summary", {}, "The complete response"), element("pre", {}, pretty(response)));
  const wrong = warnings.map(({ kind, at }) => element("p", { class: "bar" }, `byte ${at}: ${kind.replaceAll("_", " ")}`));
  return { node: element("div", { class: "column" }, title, list, complete, ...wrong), rows, count, list };
}

function nameOf(event, data) {
  if (event) return event.replace("response.", "");
  if (data === "[DONE]") return "[DONE]";
  return data.choices?.[0]?.finish_reason ? "chunk, the last" : "chunk";
}

/** The text that an event adds. */
function deltaOf(data) {
  const delta = data.choices?.[0]?.delta ?? data.delta;
  const call = delta?.tool_calls?.[0];
  const name = call?.function?.name ?? data.content_block?.name ?? data.item?.name;
  const text = typeof delta === "string" ? delta
    : delta?.content || delta?.reasoning_content || call?.function?.arguments || delta?.text || delta?.thinking || delta?.partial_json;
  return text ? JSON.stringify(text) : (name ?? "");
}

/** Shows what has come after `step` tokens. */
function goTo(step) {
  if (!shown) return;
  at("step").value = String(step);
  at("step-of").textContent = `${Math.min(step, shown.last - 1)} of ${shown.last - 1}${step === shown.last ? ", ended" : ""}`;
  shown.chips.forEach((chip, index) => chip.classList.toggle("later", index >= step));
  for (const { rows, count, list } of shown.columns) {
    let sent = 0;
    let newest = null;
    for (const { step: own, row } of rows) {
      row.hidden = own > step;
      row.classList.toggle("now", own === step);
      if (own <= step) {
        sent += 1;
        newest = row;
      }
    }
    count.textContent = list ? `${sent} events` : "";
    if (timer && newest) list.scrollTop = newest.offsetTop - list.offsetTop - list.clientHeight + newest.offsetHeight;
  }
}

function play() {
  if (!shown) return;
  let step = Number(at("step").value) >= shown.last ? 0 : Number(at("step").value);
  const wait = Math.min(120, LONGEST / shown.last);
  at("play").textContent = "❚❚ Pause";
  at("play").setAttribute("aria-pressed", "true");
  timer = setInterval(() => {
    goTo(step);
    step += 1;
    if (step > (shown?.last ?? 0)) stop();
  }, wait);
}

function stop() {
  clearInterval(timer);
  timer = null;
  at("play").textContent = "▶ Replay";
  at("play").setAttribute("aria-pressed", "false");
}
