// Mouse, fingers, keys and buttons.
const fingers = new Map();
const place = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) move((event.deltaX || event.deltaY) / 1200);
  else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 260))), place(event)[0]);
}, {passive: false});
canvas.addEventListener("pointerdown", event => {
  canvas.setPointerCapture(event.pointerId);
  const [px, py] = place(event);
  fingers.set(event.pointerId, [px, py]);
  drag = {x: px, y: py, now: px, begin: view.begin, end: view.end, range: event.shiftKey, moved: false};
  if (fingers.size === 2) { const [a, b] = [...fingers.values()]; drag.pinch = Math.abs(a[0] - b[0]) || 1; drag.middle = (a[0] + b[0]) / 2; }
});
canvas.addEventListener("pointermove", event => {
  const [px, py] = place(event);
  if (!drag) { const found = hit(px, py); if (found?.task !== hover?.task || found?.process !== hover?.process) { hover = found; redraw(); }
    canvas.title = found ? taskName(found.process, found.task) : coreText(px, py); return; }
  if (fingers.has(event.pointerId)) fingers.set(event.pointerId, [px, py]);
  if (fingers.size === 2 && drag.pinch) {
    const [a, b] = [...fingers.values()], factor = drag.pinch / (Math.abs(a[0] - b[0]) || 1);
    const at = drag.begin + (drag.middle - layout.left) / layout.width * (drag.end - drag.begin), span = (drag.end - drag.begin) * factor;
    const part = ((a[0] + b[0]) / 2 - layout.left) / layout.width;
    drag.moved = true;
    setView(at - part * span, at - part * span + span);
    return;
  }
  drag.now = px;
  if (Math.abs(px - drag.x) > 3) drag.moved = true;
  if (drag.range) { redraw(); return; }
  if (!drag.moved) return;
  const by = (drag.x - px) / layout.width * (drag.end - drag.begin);
  setView(drag.begin + by, drag.end + by);
});
function release(event) {
  fingers.delete(event.pointerId);
  if (!drag) return;
  const done = drag;
  if (fingers.size) { drag = {...drag, pinch: 0, x: [...fingers.values()][0][0], begin: view.begin, end: view.end, moved: true}; return; }
  drag = null;
  if (done.range && Math.abs(done.now - done.x) > 4) {
    const at = px => view.begin + (px - layout.left) / layout.width * (view.end - view.begin);
    setView(at(Math.min(done.x, done.now)), at(Math.max(done.x, done.now)));
  } else if (!done.moved && event.type === "pointerup") {
    const found = hit(done.x, done.y);
    if (found) select(found);
  }
  redraw();
}
canvas.addEventListener("pointerup", release);
canvas.addEventListener("pointercancel", release);
canvas.addEventListener("pointerleave", () => { if (hover) { hover = null; redraw(); } });
canvas.addEventListener("dblclick", event => { const found = hit(...place(event)); if (found) { select(found); focusTask(); } });
function toggle(id) { const on = $(id).getAttribute("aria-pressed") !== "true"; $(id).setAttribute("aria-pressed", on); return on; }
const actions = {
  messages: () => { showMessages = toggle("messages"); redraw(); },
  path: () => { showPath = toggle("path"); redraw(); },
  theme: () => { dark = !dark; applyTheme(); drawLegend(); drawStack(); tables(); drawGraph(); redraw(); },
  all: () => setView(-longest * .005, longest * 1.005), in: () => zoom(.5), out: () => zoom(2),
};
for (const id in actions) $(id).addEventListener("click", actions[id]);
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
  const keys = {ArrowLeft: () => move(-.15), ArrowRight: () => move(.15), a: () => move(-.15), d: () => move(.15), "+": actions.in, "=": actions.in, w: actions.in,
    "-": actions.out, s: actions.out, 0: actions.all, Home: actions.all, n: () => step(1), p: () => step(-1), f: focusTask, m: actions.messages, c: actions.path, t: actions.theme,
    Escape: () => select(null)};
  if (!keys[event.key]) return;
  if (event.target.tagName === "BUTTON" && event.key === "Enter") return;
  event.preventDefault();
  keys[event.key]();
});
let found = [];
$("find").addEventListener("keydown", event => {
  if (event.key !== "Enter") return;
  const text = event.target.value.trim().toLowerCase();
  if (!text) return;
  let first = null, take = !selected, next = null;
  for (const run of runs) for (const process of run.processes) {
    const match = run.names.map(name => name.toLowerCase().includes(text)), names = process.tasks.name;
    for (let t = 1; t < names.length; ++t) {
      if (process.tasks.started[t] === NONE || !(String(t) === text || match[names[t]])) continue;
      first = first || {process, task: t};
      if (take && !next) next = {process, task: t};
      if (selected && selected.process === process && selected.task === t) take = true;
    }
  }
  if (next || first) { select(next || first, true); if ((next || first).process.tasks.running) redraw(); }
});
