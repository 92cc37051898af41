// Makes elements of the report. Texts of users become text nodes, never markup.

const isShown = (child) => child !== null && child !== undefined && child !== false && child !== "";
// Make an element, such as make("td.score", { title: "..." }, "1.0").
export const make = (tagAndClasses, ...parts) => {
  const [tag, ...classes] = tagAndClasses.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  const attributes = parts[0]?.constructor === Object ? parts.shift() : {};
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) element.style.setProperty(key, text);
    else if (value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...parts.flat(Infinity).filter(isShown));
  return element;
};

// Invisible characters, and those that change the direction, are shown by their names.
const HIDDEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069" +
    "\\ufeff\\ufff9-\\ufffb]|[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]",
  "g",
);

// The style shows the name, so that a copied text has the character alone.
const nameSign = (character) => {
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return make("span.sign", { "data-name": `U+${code}` }, character);
};
export const markHidden = (text) => {
  const found = [...text.matchAll(HIDDEN)].map(([character]) => nameSign(character));
  return text.split(HIDDEN).flatMap((part, place) => [part, found[place]]);
};
export const tame = (text) => text.replace(HIDDEN, "·"); // for places that cannot hold an element
const MAX_BRIEF = 240;
export const shorten = (text) => {
  const shown = text.length > MAX_BRIEF ? `${text.slice(0, MAX_BRIEF)}…` : text;
  return make("span.brief", { dir: "auto" }, markHidden(shown));
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

// Counts, and controls with keys

export const formatCount = (number) => number.toLocaleString("en");
export const countNoun = (number, noun, plural = `${noun}s`) =>
  `${formatCount(number)} ${number === 1 ? noun : plural}`;

export const makeFilter = (key, isPressed, act, content, style = "filter") =>
  make(`button.${style}`, { "data-key": key, "aria-pressed": String(isPressed), onclick: act }, content);
export const makeSelect = (key, label, options, value, act) => {
  const id = `choose-${key}`;
  const attributes = { id, "data-key": key, onchange: (event) => act(event.target.value) };
  const makeOption = ([option, name]) => make("option", { value: option }, tame(name));
  const select = make("select", attributes, options.map(makeOption));
  select.value = value;
  return make("span.choice", make("label", { for: id }, label), select);
};
// Draw a part again, with the focus on the same control.
export const replaceContent = (place, ...children) => {
  const key = place.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  place.replaceChildren(...children.flat(Infinity).filter(isShown));
  if (key !== undefined) place.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
};
// Controls as one stop of the Tab key: arrows move between them.
const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
export const rove = (place) => {
  const controls = [...place.querySelectorAll("button, a, [tabindex]")];
  const choose = (chosen) => controls.forEach((control) => (control.tabIndex = control === chosen ? 0 : -1));
  choose(controls[0]);
  place.addEventListener("focusin", ({ target }) => controls.includes(target) && choose(target));
  place.addEventListener("keydown", (event) => {
    const number = controls.indexOf(event.target);
    const step = STEPS[event.key];
    if (number < 0 || !step) return;
    controls[Math.min(Math.max(number + step, 0), controls.length - 1)].focus();
    event.preventDefault();
    event.stopPropagation();
  });
  return place;
};
