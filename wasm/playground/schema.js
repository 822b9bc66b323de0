// Which tokens a schema allows, at each place of an answer.

import { ask, latest } from "./ask.js";
import { element, tokenChip, tokenText } from "./elements.js";

const at = (id) => document.getElementById(id);
const number = new Intl.NumberFormat("en");
const masks = latest((input) => ask("mask", input));
/** The chosen place; none is the last that can be reached. */
let chosen = null;

export function startSchema(schemas, choose, debounced) {
  const use = ([, schema, answer]) => {
    at("schema-text").value = schema;
    at("answer").value = answer;
    chosen = null;
    show();
  };
  choose(at("schemas"), schemas, use);
  const typed = debounced(() => {
    chosen = null;
    show();
  });
  at("schema-text").addEventListener("input", typed);
  at("answer").addEventListener("input", typed);
  at("places").addEventListener("keydown", move);
  use(schemas[0]);
}

async function show({ focus = false } = {}) {
  const { result, error, stale } = await masks({ schema: at("schema-text").value, text: at("answer").value, place: chosen ?? -1 });
  if (stale) return;
  if (error) {
    at("places").replaceChildren();
    at("allowed").replaceChildren();
    const place = error.path ? ` at ${error.path}` : "";
    at("mask").replaceChildren(element("p", { class: "problem" }, element("strong", {}, `${error.kind ?? "Error"}${place}`), element("p", {}, error.message)));
    return;
  }
  const { tokens, places, at: place } = result;
  at("places").replaceChildren(...places.map((reached, index) => button(tokens[index], reached, index, place.index)), ...tokens.slice(places.length).map((token) => element("span", { class: "place unread" }, tokenText(token, true))));
  if (focus) at("places").querySelector('[aria-selected="true"]')?.focus();
  showPlace(result);
}

/** A place: how many tokens may come, above the token that comes. */
function button(token, { allowed, refused }, index, current) {
  const node = element("button", {
    type: "button", role: "option", class: refused ? "place refused" : "place", "aria-selected": String(index === current),
    tabindex: index === current ? "0" : "-1", title: `${number.format(allowed)} tokens may come here`,
  }, element("small", {}, allowed >= 10_000 ? `${Math.round(allowed / 1000)}k` : number.format(allowed)), token ? tokenText(token, true) : element("span", { class: "blank" }, "▏"));
  node.addEventListener("click", () => {
    chosen = index;
    show({ focus: true });
  });
  return node;
}

function showPlace({ at: place, of, compiled, places, tokens }) {
  const refused = places[place.index]?.refused ? element("p", { class: "problem" }, "The next token is not allowed: a mask would never have let the model write it.") : "";
  const facts = [
    element("div", { class: "fact" }, element("b", {}, number.format(place.allowed)), element("span", {}, `of ${number.format(of)} tokens may come`)),
    element("div", { class: "fact" }, element("b", {}, place.complete ? "yes" : "no"), element("span", {}, "may end here")),
    element("div", { class: "fact" }, element("b", {}, `${place.filled.toFixed(2)} ms`), element("span", {}, `mask; schema ${compiled.toFixed(1)} ms`)),
  ];
  if (place.forced) facts.push(element("div", { class: "fact" }, element("b", {}, JSON.stringify(place.forced)), element("span", {}, "must come next")));
  const where = `${place.index < tokens.length ? "Before" : "After"} token ${Math.min(place.index + 1, tokens.length)}; the text is ${place.where.join(", or ")}.`;
  at("mask").replaceChildren(refused, element("div", { class: "facts" }, ...facts), element("p", { class: "bar" }, where));
  const chips = place.list.map((token, index) => tokenChip(token, index, true));
  const more = place.allowed - place.list.length;
  at("allowed").replaceChildren(...chips, more > 0 ? ` and ${number.format(more)} more` : "");
}

function move(event) {
  const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };
  const step = steps[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const buttons = [...at("places").querySelectorAll("button")];
  const now = buttons.findIndex((node) => node.getAttribute("aria-selected") === "true");
  chosen = Math.max(0, Math.min(buttons.length - 1, now + step));
  show({ focus: true });
}
