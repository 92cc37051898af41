// The page image of a question. Mouse, keys and fingers zoom and move it.
import { make } from "./elements.js";

const LARGEST = 8; // the largest zoom factor
const STEP = 1.4;
const DISTANCE = 60; // pixels by which an arrow key moves the page
const ARROWS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

const limit = (value, low, high) => Math.min(Math.max(value, low), high);

export const drawPage = (url, alt, box) => {
  let [scale, x, y] = [1, 0, 0];
  const image = make("img", { src: url, alt, draggable: "false" });
  const frame = make("div", { class: "sheet", tabindex: 0, role: "group", "aria-label": "Page. Plus and minus zoom, arrows move, 0 shows the whole page" }, image);
  const show = () => {
    x = limit(x, frame.clientWidth * (1 - scale), 0);
    y = limit(y, frame.clientHeight * (1 - scale), 0);
    image.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    frame.classList.toggle("zoomed", scale > 1);
  };
  const move = (right, down) => {
    [x, y] = [x + right, y + down];
    show();
  };
  // The point of the page at this place of the frame stays there.
  const zoom = (times, left = frame.clientWidth / 2, top = frame.clientHeight / 2) => {
    const next = limit(scale * times, 1, LARGEST);
    [x, y] = [left - ((left - x) * next) / scale, top - ((top - y) * next) / scale];
    scale = next;
    show();
  };
  const placeOf = ({ clientX, clientY }) => {
    const { left, top } = frame.getBoundingClientRect();
    return [clientX - left, clientY - top];
  };
  const KEYS = { "+": () => zoom(STEP), "=": () => zoom(STEP), "-": () => zoom(1 / STEP), 0: () => zoom(0) };

  frame.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = scale > 1 && ARROWS[event.key];
    if (arrow) move(arrow[0] * DISTANCE, arrow[1] * DISTANCE);
    else if (Object.hasOwn(KEYS, event.key)) KEYS[event.key]();
    else return;
    event.preventDefault();
  });
  // The wheel scrolls the report until the reader clicks on the page.
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== frame) return;
    event.preventDefault();
    zoom(Math.exp(-event.deltaY / 300), ...placeOf(event));
  });
  frame.addEventListener("dblclick", (event) => zoom(scale > 1 ? 0 : 2.5, ...placeOf(event)));

  const fingers = new Map(); // pointer id -> position, of fingers or the mouse
  frame.addEventListener("pointerdown", (event) => {
    frame.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, placeOf(event));
  });
  frame.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = placeOf(event);
    fingers.set(event.pointerId, now);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (!other) return move(now[0] - before[0], now[1] - before[1]);
    const apart = (place) => Math.max(1, Math.hypot(place[0] - other[0], place[1] - other[1]));
    zoom(apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
  });
  for (const end of ["pointerup", "pointercancel"]) frame.addEventListener(end, ({ pointerId }) => fingers.delete(pointerId));

  const large = make("button", { "aria-label": "Enlarge the page", "aria-pressed": "false" }, "Wider");
  large.addEventListener("click", () => {
    large.setAttribute("aria-pressed", String(box.classList.toggle("large")));
    show();
  });
  const controls = [["Zoom in", "+", STEP], ["Zoom out", "-", 1 / STEP], ["Show the whole page", "0", 0]].map(([label, sign, times]) => make("button", { "aria-label": label, onclick: () => zoom(times) }, sign));
  return make("div", { class: "page-of-question" }, frame, make("div", { class: "steps" }, controls, large));
};
