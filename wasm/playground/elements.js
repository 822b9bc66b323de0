// Small pieces of the page.

export function element(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

export const pretty = (value) => JSON.stringify(value, null, 2);

export function card(title, actions, ...content) {
  const buttons = element("span", {}, ...actions.flatMap((action) => [action, " "]));
  return element("div", { class: "card" }, element("div", { class: "bar" }, element("strong", {}, title), buttons), ...content);
}

/** A token: its text or bytes, and its id. On one line if `flat`. */
export function tokenChip(token, index, flat) {
  const kind = token.special ? "t special" : `t c${index % 4}`;
  const name = token.special ? "special token" : "token";
  return element("span", { class: kind, title: `${name} ${token.id}, the ${index + 1}th` }, tokenText(token, flat === true), element("small", {}, String(token.id)));
}

export function tokenText(token, flat = false) {
  if (token.bytes !== undefined) return element("span", { class: "bytes" }, token.bytes);
  const text = element("span", {});
  // Line ends and blanks at the borders would not be seen.
  for (const piece of token.text.split(/(\r|\n|\t|^ +| +$)/)) {
    if (piece === "\n") text.append(element("span", { class: "blank" }, "⏎"), flat ? "" : "\n");
    else if (piece === "\r") text.append(element("span", { class: "blank" }, "␍"));
    else if (piece === "\t") text.append(element("span", { class: "blank" }, flat ? "⇥" : "⇥\t"));
    else if (/^ +$/.test(piece)) text.append(element("span", { class: "blank" }, "·".repeat(piece.length)));
    else if (piece) text.append(piece);
  }
  return text;
}
