// The timeline: a row for each thread and core, drawn on a canvas, and what is selected there.
const canvas = $("timeline"), context = canvas.getContext("2d");
const longest = Math.max(...runs.map(run => run.length));   // nanoseconds; the axis is shared
let view = {begin: 0, end: longest};
let selected = null, hover = null, showMessages = true, showPath = false, drag = null;
let layout = {left: 0, width: 0, rows: [], height: 0};

function arrange() {
  const width = canvas.clientWidth, narrow = width < 560;
  const left = narrow ? 52 : 96;
  const rowHeight = Math.max(12, Math.min(narrow ? 20 : 26, 620 / Math.max(1, rows.length)));
  let y = 26;
  layout.rows = [];
  let run = null, process = null;
  layout.titles = [];
  for (const row of rows) {
    if (row.run !== run) {
      if (runs.length > 1) { layout.titles.push({y: y + 14, text: row.run.title, run: row.run}); y += 22; }
      run = row.run; process = null;
    }
    if (row.process !== process) { y += process ? 7 : 0; process = row.process; row.first = true; }
    layout.rows.push({row, y, height: rowHeight - 2});
    row.y = y; row.height = rowHeight - 2;
    y += rowHeight;
  }
  layout.cores = [];
  for (const one of runs) {
    if (!one.coreRows.length) continue;
    layout.titles.push({y: y + 20, text: "cores" + (runs.length > 1 ? ": " + one.title : "")}); y += 27;
    for (const row of one.coreRows) { layout.cores.push({row, y, height: rowHeight - 2}); y += rowHeight; }
  }
  layout.left = left; layout.width = width - left - 6; layout.height = y + 6; layout.narrow = narrow;
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio); canvas.height = Math.round(layout.height * ratio);
  canvas.style.height = layout.height + "px";
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
}
const x = (run, units) => layout.left + (units * run.unit - view.begin) / (view.end - view.begin) * layout.width;
function firstBehind(array, value) { // index of the first element > value
  let low = 0, high = array.length;
  while (low < high) { const middle = (low + high) >> 1; if (array[middle] > value) high = middle; else low = middle + 1; }
  return low;
}
function drawRow(row) {
  const {run, thread, process, y, height} = row, {begin, end, task} = thread;
  const scale = layout.width / (view.end - view.begin) * run.unit, base = layout.left - view.begin / run.unit * scale;
  const right = layout.left + layout.width, names = process.tasks.name, flags = process.tasks.flags;
  context.fillStyle = css.idle;
  const last = Math.min(right, base + run.span * scale);
  if (last > layout.left) context.fillRect(layout.left, y, last - layout.left, height);
  const limit = view.end / run.unit;
  // What is thinner than a pixel is added up: the colour of who had most of it, as high as its share.
  let pixel = -1, share = 0, best = 0, bestColor = "", previous = 0, current = "";
  const flush = () => {
    if (pixel < 0) return;
    const h = Math.max(2, Math.min(1, share) * height);
    if (bestColor !== current) { context.fillStyle = bestColor; current = bestColor; }
    context.fillRect(pixel, y + height - h, 1, h);
    pixel = -1; share = 0; best = 0;
  };
  for (let i = firstBehind(end, view.begin / run.unit); i < begin.length && begin[i] < limit; ++i) {
    let x0 = base + begin[i] * scale, x1 = base + end[i] * scale;
    if (x1 <= layout.left) continue;
    const t = task[i];
    let color = css.program;
    if (t) { color = run.colors[names[t]]; if (kinds.get(run.names[names[t]])?.off) continue; }
    x0 = Math.max(x0, layout.left); x1 = Math.min(x1, right);
    if (x1 - x0 < 1.5) {
      const p = Math.floor(x0);
      if (p !== pixel) { flush(); pixel = p; }
      const w = Math.max(x1 - x0, .004);
      share += w;
      if (w > best) { best = w; bestColor = color; }
      continue;
    }
    flush();
    if (color !== current) { context.fillStyle = color; current = color; }
    const inset = t ? 0 : height * .3;
    context.fillRect(x0, y + inset, x1 - x0 - (x1 - x0 > 4 ? .6 : 0), height - 2 * inset);
    if (t && x1 - x0 > 46 && height > 11) {
      context.save(); context.beginPath(); context.rect(x0, y, x1 - x0 - 3, height); context.clip();
      context.fillStyle = dark ? "#101418" : "#ffffff"; context.font = "11px system-ui, sans-serif"; context.textBaseline = "middle";
      context.fillText((process.tasks.priority[t] ? process.tasks.priority[t] + " · " : "") + taskName(process, t), x0 + 4, y + height / 2 + .5);
      context.restore(); current = "";
    }
    if (t && (flags[t] & 1) && x1 - x0 > 5) { context.fillStyle = css.select; current = css.select; context.fillRect(x0, y, x1 - x0 - .6, 2); }
  }
  flush();
}
// The colour says which rank has the core; half as high: it was lent. Uses that are thinner than a pixel are one.
function drawCore({row, y, height}) {
  const {run, begin, end, process, lent} = row;
  context.fillStyle = css.idle;
  const last = Math.min(layout.left + layout.width, x(run, run.span));
  if (last > layout.left) context.fillRect(layout.left, y, last - layout.left, height);
  let drawn = -1;
  for (let i = firstBehind(end, view.begin / run.unit); i < begin.length && begin[i] * run.unit < view.end; ++i) {
    const x0 = Math.max(layout.left, x(run, begin[i])), x1 = Math.min(layout.left + layout.width, x(run, end[i]));
    if (x1 - x0 < 1 && Math.floor(x0) === drawn) continue;
    drawn = Math.floor(x0);
    context.fillStyle = rankColor(process[i]);
    const inset = lent[i] ? height / 2 : 0;
    context.fillRect(x0, y + inset, Math.max(1, x1 - x0), height - inset);
  }
}
const rankColor = p => `hsl(${p * 137.5 % 360} 55% ${dark ? 62 : 48}%)`;
// What is to be said of a core at this place, or "".
const coreName = row => `core ${row.core}` + (row.run.severalNodes ? ` of node ${row.node}` : "");
function coreText(px, py) {
  for (const {row, y, height} of layout.cores) {
    if (py < y || py > y + height + 1) continue;
    const at = (view.begin + (px - layout.left) / layout.width * (view.end - view.begin)) / row.run.unit;
    const i = firstBehind(row.end, at);
    return i < row.begin.length && row.begin[i] <= at ? `${coreName(row)}: rank ${row.run.processes[row.process[i]].rank}` + (row.lent[i] ? ", lent" : "") : `${coreName(row)}: nobody`;
  }
  return "";
}
function outline(process, t, color, width) {
  for (const number in process.rows) {
    const row = process.rows[number], {begin, end, task} = row.thread, run = row.run;
    if (process.tasks.started[t] === NONE) continue;
    const limit = Math.min(view.end / run.unit, process.tasks.ended[t] === NONE ? Infinity : process.tasks.ended[t] + 1);
    for (let i = firstBehind(end, Math.max(view.begin / run.unit, process.tasks.started[t] - 1)); i < begin.length && begin[i] < limit; ++i) {
      if (task[i] !== t) continue;
      const x0 = Math.max(layout.left, x(run, begin[i])), x1 = Math.min(layout.left + layout.width, x(run, end[i]));
      if (x1 < layout.left) continue;
      context.strokeStyle = color; context.lineWidth = width;
      context.strokeRect(x0 - .5, row.y - .5, Math.max(2, x1 - x0) + 1, row.height + 1);
    }
  }
}
function drawMessage(run, m, color, width) {
  const from = run.processes[run.messages.from[m]], to = run.processes[run.messages.to[m]];
  const s = run.messages.send[m], r = run.messages.receive[m];
  const rowA = rowOfCall(from, s), rowB = rowOfCall(to, r);
  if (!rowA || !rowB) return false;
  const x0 = x(run, from.calls.begin[s]), x1 = x(run, to.calls.end[r]);
  if (Math.max(x0, x1) < layout.left || Math.min(x0, x1) > layout.left + layout.width) return false;
  const down = rowB.y > rowA.y;
  const y0 = rowA.y + (down ? rowA.height : 0), y1 = rowB.y + (down ? 0 : rowB.height);
  context.strokeStyle = context.fillStyle = color; context.lineWidth = width;
  context.beginPath(); context.moveTo(x0, y0); context.lineTo(x1, y1); context.stroke();
  const angle = Math.atan2(y1 - y0, x1 - x0), a = 6;
  context.beginPath(); context.moveTo(x1, y1);
  context.lineTo(x1 - a * Math.cos(angle - .4), y1 - a * Math.sin(angle - .4));
  context.lineTo(x1 - a * Math.cos(angle + .4), y1 - a * Math.sin(angle + .4)); context.fill();
  return true;
}
const rowOfCall = (process, c) => process.rows[process.calls.thread[c]];
function messagesOf(process, t) {
  const found = [];
  for (const c of process.callsOf.of(t)) if (process.calls.message[c] !== NONE) found.push(process.calls.message[c]);
  return found;
}
function drawAxis() {
  const span = view.end - view.begin, wanted = span / Math.max(2, layout.width / 110);
  let step = 10 ** Math.floor(Math.log10(wanted));
  step *= wanted / step > 5 ? 10 : wanted / step > 2 ? 5 : wanted / step > 1 ? 2 : 1;
  context.font = "11px system-ui, sans-serif"; context.textBaseline = "alphabetic"; context.textAlign = "center";
  for (let at = Math.ceil(view.begin / step) * step; at <= view.end; at += step) {
    const px = layout.left + (at - view.begin) / span * layout.width;
    context.strokeStyle = css.grid; context.lineWidth = 1;
    context.beginPath(); context.moveTo(px, 18); context.lineTo(px, layout.height); context.stroke();
    context.fillStyle = css.soft;
    const unit = step >= 1e9 ? [1e9, "s"] : step >= 1e6 ? [1e6, "ms"] : step >= 1e3 ? [1e3, "µs"] : [1, "ns"];
    const digits = step >= 1e9 || unit[0] === 1 ? 0 : 0;
    context.fillText((at / unit[0]).toFixed(digits) + " " + unit[1], Math.max(layout.left + 16, Math.min(px, layout.left + layout.width - 18)), 13);
  }
  context.textAlign = "left";
}
let pending = false;
function redraw() { if (!pending) { pending = true; requestAnimationFrame(draw); } }
function draw() {
  pending = false;
  context.fillStyle = css.panel; context.fillRect(0, 0, canvas.clientWidth, layout.height);
  drawAxis();
  context.textBaseline = "middle";
  for (const {row, y, height} of layout.rows) {
    context.fillStyle = css.soft; context.font = "12px system-ui, sans-serif"; context.textAlign = "left";
    const label = layout.narrow ? `${row.process.rank}.${row.thread.row}` : `rank ${row.process.rank} · ${row.thread.row}`;
    context.fillText(label, 2, y + height / 2);
    drawRow(row);
  }
  for (const core of layout.cores) {
    context.fillStyle = css.soft; context.font = "12px system-ui, sans-serif"; context.textAlign = "left"; context.textBaseline = "middle";
    context.fillText((layout.narrow ? "c" : "core ") + (core.row.run.severalNodes ? core.row.node + "." : "") + core.row.core, 2, core.y + core.height / 2);
    drawCore(core);
  }
  context.font = "600 12px system-ui, sans-serif"; context.textBaseline = "alphabetic"; context.fillStyle = css.ink;
  for (const title of layout.titles) context.fillText(title.run ? `${title.text}   ${time(NS, title.run.length)}` : title.text, 2, title.y);
  context.save(); context.beginPath(); context.rect(layout.left, 0, layout.width, layout.height); context.clip();
  for (const run of runs) {
    if (runs.length > 1 && run.processes[0].rows) { // where the run ends
      const px = x(run, run.span), own = layout.rows.filter(r => r.row.run === run);
      if (own.length && px >= layout.left) { context.strokeStyle = css.hot; context.lineWidth = 1.5; context.beginPath();
        context.moveTo(px, own[0].y - 3); context.lineTo(px, own.at(-1).y + own.at(-1).height + 3); context.stroke(); }
    }
    if (showMessages) {
      // As many as tell something.
      const visible = [], limit = 400, list = run.messages;
      for (let m = 0; m < list.from.length && visible.length <= limit; ++m) {
        const from = run.processes[list.from[m]], to = run.processes[list.to[m]];
        const b = from.calls.begin[list.send[m]] * run.unit, e = to.calls.end[list.receive[m]] * run.unit;
        if (Math.max(b, e) >= view.begin && Math.min(b, e) <= view.end) visible.push(m);
      }
      run.shown = visible.length;
      if (visible.length <= limit) { context.globalAlpha = visible.length > 120 ? .28 : .6;
        for (const m of visible) drawMessage(run, m, css.accent, 1); context.globalAlpha = 1; }
    }
    if (showPath) {
      let before = null;
      for (let i = 0; i < run.path.task.length; ++i) outline(run.processes[run.path.process[i]], run.path.task[i], css.hot, 1.6);
    }
  }
  if (hover && !(selected && hover.process === selected.process && hover.task === selected.task)) outline(hover.process, hover.task, css.soft, 1);
  if (selected) {
    outline(selected.process, selected.task, css.select, 2);
    for (const m of messagesOf(selected.process, selected.task)) drawMessage(selected.process.run, m, css.hot, 2);
  }
  context.restore();
  if (drag && drag.range) { context.fillStyle = css.accent; context.globalAlpha = .15; context.fillRect(Math.min(drag.x, drag.now), 18, Math.abs(drag.now - drag.x), layout.height); context.globalAlpha = 1; }
  const crowded = showMessages && runs.some(run => run.shown > 400);
  $("range").textContent = `${time(NS, Math.max(0, view.begin))} to ${time(NS, view.end)}` + (crowded ? " · zoom in to see messages" : "");
}
function setView(begin, end) {
  const least = 200, span = Math.min(Math.max(end - begin, least), longest * 1.02);
  const middle = (begin + end) / 2;
  begin = Math.max(-longest * .01, Math.min(middle - span / 2, longest * 1.01 - span));
  view = {begin, end: begin + span};
  redraw();
}
function zoom(factor, px) {
  const part = px === undefined ? .5 : Math.max(0, Math.min(1, (px - layout.left) / layout.width));
  const at = view.begin + part * (view.end - view.begin), span = (view.end - view.begin) * factor;
  setView(at - part * span, at - part * span + span);
}
const move = part => { const by = part * (view.end - view.begin); setView(view.begin + by, view.end + by); };
function hit(px, py) {
  for (const {row, y, height} of layout.rows) {
    if (py < y || py > y + height + 1) continue;
    const at = (view.begin + (px - layout.left) / layout.width * (view.end - view.begin)) / row.run.unit;
    const reach = 2 / layout.width * (view.end - view.begin) / row.run.unit;
    const {begin, end, task} = row.thread;
    let best = null, distance = reach;
    for (let i = firstBehind(end, at - reach); i < begin.length && begin[i] <= at + reach; ++i) {
      const d = begin[i] > at ? begin[i] - at : end[i] < at ? at - end[i] : 0;
      if (task[i] && (best === null || d < distance)) { best = i; distance = d; if (d === 0) break; }
    }
    return best === null ? null : {process: row.process, task: task[best], row, index: best};
  }
  return null;
}
function many(count, what) { return `${count} ${what}${count === 1 ? "" : "s"}`; }
function escapeText(text) { return text.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`); }
function select(what, show) {
  selected = what;
  if (!what) { $("detail").textContent = "Click a task to see when it was created, ready and run, and its place in the graph."; redraw(); return; }
  const {process, task: t} = what, run = process.run, tasks = process.tasks;
  const at = v => v === NONE ? "never" : time(run, v);
  const parts = [`<b>${escapeText(taskName(process, t))}</b> · task ${t} of rank ${process.rank}` + (runs.length > 1 ? ` · ${escapeText(run.title)}` : ""),
    `priority ${tasks.priority[t]}`, `ran ${time(run, tasks.running[t])}` + (tasks.suspended[t] ? `, suspended ${time(run, tasks.suspended[t])}` : ""),
    `created ${at(tasks.created[t])}, ready ${at(tasks.ready[t])}, started ${at(tasks.started[t])}, ended ${at(tasks.ended[t])}`,
    `${many(process.before.of(t).length, "predecessor")}, ${many(process.after.of(t).length, "successor")}`];
  let calls = "";
  for (const c of [...process.callsOf.of(t)].slice(0, 8)) {
    const d = process.calls.direction[c] & 3, peer = process.calls.peer[c];
    calls += `<br>${escapeText(run.names[process.calls.name[c]])}` + (peer >= 0 ? ` ${d === 1 ? "to" : d === 2 ? "from" : "root"} rank ${peer}` : "") +
      (process.calls.tag[c] >= 0 ? `, tag ${process.calls.tag[c]}` : "") + (process.calls.bytes[c] ? `, ${size(process.calls.bytes[c])}` : "") +
      `: ${time(run, process.calls.end[c] - process.calls.begin[c])}`;
  }
  $("detail").innerHTML = parts.join(" · ") + calls;
  if (show && tasks.started[t] !== NONE) {
    const begin = tasks.started[t] * run.unit, end = (tasks.ended[t] === NONE ? tasks.started[t] : tasks.ended[t]) * run.unit;
    if (end < view.begin || begin > view.end) { const span = view.end - view.begin; setView(begin - span / 2, begin + span / 2); }
  }
  drawGraph();
  redraw();
}
function step(direction) {
  if (!selected) return;
  const {process, task: t} = selected, row = selected.row || process.rows[process.tasks.thread[t]];
  if (!row) return;
  const {begin, task} = row.thread;
  let i = selected.index;
  if (i === undefined) i = firstBehind(begin, process.tasks.started[t]) - 1;
  do i += direction; while (i >= 0 && i < task.length && (task[i] === 0 || task[i] === t));
  if (i >= 0 && i < task.length) select({process, task: task[i], row, index: i}, true);
}
function focusTask() {
  if (!selected) return;
  const {process, task: t} = selected, run = process.run;
  const begin = process.tasks.started[t] * run.unit, length = Math.max(1, process.tasks.ended[t] === NONE ? 1 : process.tasks.ended[t] - process.tasks.started[t]) * run.unit;
  setView(begin - length * 3, begin + length * 4);
}
