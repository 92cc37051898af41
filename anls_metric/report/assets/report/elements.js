// Makes elements of the page. Texts of users become text nodes, never markup.

const append = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter(Boolean));
  return element;
};
export const make = (tag, attributes = {}, ...children) => append(document.createElement(tag), attributes, children);
export const draw = (tag, attributes = {}, ...children) =>
  append(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Invisible characters, and characters that change the direction of the text. They are shown by their names.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const SIGN_NAMES = { "\r": "CR", "\0": "NUL" };
const signs = new WeakMap(); // the element that names a character -> the character
export const markHidden = (text) => {
  const parts = [];
  let last = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > last) parts.push(text.slice(last, match.index));
    const code = match[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    const sign = make("span", { class: "sign" }, SIGN_NAMES[match[0]] ?? `U+${code}`);
    signs.set(sign, match[0]);
    parts.push(sign);
    last = match.index + match[0].length;
  }
  if (last < text.length) parts.push(text.slice(last));
  return parts;
};
export const tame = (text) => text.replace(HIDDEN, "·"); // for places that cannot hold an element
const MAX_BRIEF = 240;
export const shorten = (text) =>
  make("span", { class: "brief", dir: "auto" }, markHidden(text.length > MAX_BRIEF ? `${text.slice(0, MAX_BRIEF)}…` : text));

// A copied text has the characters themselves, not their names.
export const copySigns = (event) => {
  const selection = getSelection();
  const parts = [...document.querySelectorAll(".sign")].filter((sign) => selection.containsNode(sign, true));
  if (!parts.length) return;
  const labels = parts.map((sign) => sign.textContent);
  const fill = (texts) => parts.forEach((sign, place) => (sign.firstChild.data = texts[place]));
  fill(parts.map((sign) => signs.get(sign)));
  event.clipboardData.setData("text/plain", selection.toString());
  fill(labels);
  event.preventDefault();
};

export const copyText = async (text, button) => {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = make("textarea", { "aria-hidden": "true" });
    field.value = text;
    button.after(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    button.focus();
  }
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = label), 1500);
};

// Numbers

export const formatCount = (number) => number.toLocaleString("en");
export const countNoun = (number, noun) => `${formatCount(number)} ${noun}${number === 1 ? "" : "s"}`;
export const formatScore = (score) => (score === null ? "-" : score.toFixed(4));
export const formatDifference = (value) => `${value >= 0 ? "+" : "-"}${Math.abs(value).toFixed(4)}`;
export const formatInterval = (interval, format = formatScore) =>
  interval ? `${format(interval[0])} to ${format(interval[1])}` : "no interval";
export const formatP = (p) => (p < 0.001 ? "<0.001" : p.toFixed(3));
export const formatPlain = (number) => String(Number(number.toFixed(4)));
export const makeBadge = (score, digits) => {
  const style = score === 1 ? "good" : score === 0 ? "zero" : "partial";
  const step = 10 ** -digits;
  const shown = score > 0 && score < 1 ? Math.min(Math.max(score, step), 1 - step) : score; // so that only 1 is printed as 1
  return make("span", { class: `score ${style}` }, score === null ? "-" : shown.toFixed(digits));
};

// Controls. The key of a control identifies it after the page was drawn again.

const quoteSigns = (text) => (text ? `“${tame(text)}”` : "nothing");
export const formatConfusion = ([predicted, accepted]) => `${quoteSigns(predicted)} for ${quoteSigns(accepted)}`;
export const makeFilter = (key, label, pressed, act, content, style = "filter") =>
  make("button", { class: style, "data-key": key, "aria-label": label, "aria-pressed": String(pressed), onclick: act }, content);
export const makeSelect = (key, label, options, value, act) => {
  const select = make(
    "select",
    { "data-key": key, "aria-label": label, onchange: (event) => act(event.target.value) },
    options.map(([option, name]) => make("option", { value: option }, tame(name))),
  );
  select.value = value;
  return select;
};
// Draw a part of the page again, and keep the focus on the control with the same key.
export const replaceContent = (place, ...children) => {
  const key = place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  place.replaceChildren(...children.flat().filter(Boolean));
  if (key !== undefined) place.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
};

// The controls of a table are one stop of the Tab key. The arrow keys move between them.
export const rove = (place) => {
  const controls = [...place.querySelectorAll("button, a")];
  controls.forEach((control, number) => (control.tabIndex = number ? -1 : 0));
  place.addEventListener("focusin", ({ target }) => {
    if (!controls.includes(target)) return;
    for (const control of controls) control.tabIndex = control === target ? 0 : -1;
  });
  place.addEventListener("keydown", (event) => {
    const number = controls.indexOf(event.target);
    const next = { ArrowRight: number + 1, ArrowDown: number + 1, ArrowLeft: number - 1, ArrowUp: number - 1, Home: 0, End: controls.length - 1 }[event.key];
    if (number < 0 || next === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    controls[Math.min(Math.max(next, 0), controls.length - 1)].focus();
    event.preventDefault();
    event.stopPropagation();
  });
  return place;
};
