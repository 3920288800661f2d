// The graph of the tasks around the selected one.
function neighbours(process, t, depth) {
  const nodes = new Map(), edges = [], limit = 60;
  const key = (p, t) => p.number + ":" + t;
  const add = (p, t, layer) => { const k = key(p, t); if (!nodes.has(k) && nodes.size < limit) nodes.set(k, {process: p, task: t, layer, key: k}); return nodes.get(k); };
  let front = [add(process, t, 0)];
  const run = process.run;
  for (const direction of [-1, 1]) {
    let front = [nodes.get(key(process, t))];
    for (let d = 1; d <= depth; ++d) {
      const next = [];
      for (const node of front) {
        const list = (direction < 0 ? node.process.before : node.process.after).of(node.task);
        for (const other of [...list].slice(0, 12)) { const k = key(node.process, other), had = nodes.has(k), n = add(node.process, other, direction * d); if (n && !had) next.push(n); }
        for (const m of messagesOf(node.process, node.task)) {
          const sends = run.messages.from[m] === node.process.number && node.process.calls.task[run.messages.send[m]] === node.task;
          if (sends !== direction > 0) continue;
          const p = run.processes[sends ? run.messages.to[m] : run.messages.from[m]];
          const other = p.calls.task[sends ? run.messages.receive[m] : run.messages.send[m]];
          if (!other) continue;
          const had = nodes.has(key(p, other)), n = add(p, other, direction * d);
          if (n && !had) next.push(n);
        }
      }
      front = next;
    }
  }
  for (const node of nodes.values()) {
    for (const other of node.process.after.of(node.task)) { const to = nodes.get(key(node.process, other)); if (to) edges.push({from: node, to, message: false}); }
    for (const m of messagesOf(node.process, node.task)) {
      if (run.messages.from[m] !== node.process.number || node.process.calls.task[run.messages.send[m]] !== node.task) continue;
      const p = run.processes[run.messages.to[m]], to = nodes.get(key(p, p.calls.task[run.messages.receive[m]]));
      if (to) edges.push({from: node, to, message: true});
    }
  }
  return {nodes: [...nodes.values()], edges};
}
function drawGraph() {
  const box = $("graph");
  box.textContent = "";
  if (!selected) { box.innerHTML = '<p class="hint" style="padding:.5rem">Select a task in the timeline.</p>'; $("center").textContent = ""; return; }
  const {process, task: t} = selected;
  $("center").textContent = `${taskName(process, t)}, task ${t} of rank ${process.rank}`;
  const {nodes, edges} = neighbours(process, t, +$("depth").value);
  // Layers by the longest way.
  for (let round = 0; round < nodes.length; ++round) {
    let changed = false;
    for (const e of edges) if (e.to.layer <= e.from.layer) { e.to.layer = e.from.layer + 1; changed = true; }
    if (!changed) break;
  }
  const layers = new Map();
  nodes.forEach(n => { if (!layers.has(n.layer)) layers.set(n.layer, []); layers.get(n.layer).push(n); });
  const order = [...layers.keys()].sort((a, b) => a - b);
  for (const layer of layers.values()) layer.forEach((n, i) => { n.place = i; });
  for (let sweep = 0; sweep < 6; ++sweep)
    for (const l of sweep % 2 ? [...order].reverse() : order) {
      const layer = layers.get(l);
      layer.forEach(n => {
        const near = edges.filter(e => sweep % 2 ? e.from === n : e.to === n).map(e => sweep % 2 ? e.to : e.from);
        n.weight = near.length ? near.reduce((sum, o) => sum + (o.place + .5) / layers.get(o.layer).length, 0) / near.length : (n.place + .5) / layer.length;
      });
      layer.sort((a, b) => a.weight - b.weight).forEach((n, i) => { n.place = i; });
    }
  const w = 118, h = 34, gapX = 14, gapY = 30;
  const wide = Math.max(...[...layers.values()].map(l => l.length)), width = Math.max(box.clientWidth - 2, wide * (w + gapX) + gapX);
  order.forEach((l, row) => { const layer = layers.get(l), full = layer.length * (w + gapX) - gapX; layer.forEach((n, i) => { n.x = (width - full) / 2 + i * (w + gapX); n.y = 10 + row * (h + gapY); }); });
  const height = 20 + order.length * (h + gapY) - gapY;
  const svg = [`<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="task graph"><defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="${css.soft}"/></marker><marker id="tipm" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="${css.accent}"/></marker></defs>`];
  for (const e of edges) {
    const x0 = e.from.x + w / 2, y0 = e.from.y + h, x1 = e.to.x + w / 2, y1 = e.to.y, bend = (y1 - y0) / 2;
    svg.push(`<path d="M${x0} ${y0}C${x0} ${y0 + bend} ${x1} ${y1 - bend} ${x1} ${y1}" fill="none" stroke="${e.message ? css.accent : css.soft}" stroke-width="${e.message ? 1.6 : 1}" ${e.message ? 'stroke-dasharray="5 3"' : 'opacity=".75"'} marker-end="url(#${e.message ? "tipm" : "tip"})"/>`);
  }
  nodes.forEach((n, i) => {
    const p = n.process, flags = p.tasks.flags[n.task], name = taskName(p, n.task), color = p.run.colors[p.tasks.name[n.task]];
    const mine = n.process === process && n.task === t, path = p.run.onPath[p.number].has(n.task);
    const short = shortName(name);
    svg.push(`<g data-i="${i}" tabindex="0" style="cursor:pointer"><title>${escapeText(name)}, task ${n.task} of rank ${p.rank}, priority ${p.tasks.priority[n.task]}${path ? ", on the critical path" : ""}</title>`,
      `<rect x="${n.x}" y="${n.y}" width="${w}" height="${h}" rx="7" fill="${color}" fill-opacity="${dark ? .3 : .2}" stroke="${mine ? css.select : color}" stroke-width="${mine ? 2.5 : 1.5}" ${flags & 2 ? 'stroke-dasharray="4 3"' : ""}/>`,
      flags & 1 ? `<rect x="${n.x + 3}" y="${n.y + 3}" width="${w - 6}" height="${h - 6}" rx="5" fill="none" stroke="${color}" stroke-width="1.2"/>` : "",
      `<text x="${n.x + w / 2}" y="${n.y + 14}" text-anchor="middle" fill="${css.ink}" font-weight="600">${p.tasks.priority[n.task]}</text>`,
      `<text x="${n.x + w / 2}" y="${n.y + 27}" text-anchor="middle" fill="${css.soft}" style="font-size:10.5px">${escapeText(short)}${p === process ? "" : " · r" + p.rank}</text></g>`);
  });
  svg.push("</svg>");
  box.innerHTML = svg.join("");
  box.querySelectorAll("g[data-i]").forEach(g => {
    const go = () => { const n = nodes[+g.dataset.i]; select({process: n.process, task: n.task}, true); };
    g.addEventListener("click", go);
    g.addEventListener("keydown", event => { if (event.key === "Enter") go(); });
  });
  const middle = nodes.find(n => n.process === process && n.task === t);
  box.scrollLeft = middle.x + w / 2 - box.clientWidth / 2; box.scrollTop = middle.y - box.clientHeight / 2;
}
function shortName(name) {
  const line = name.match(/^(.*) \((.+:\d+)\)$/);
  const text = line ? (line[1].endsWith("create_tasks") || line[1].length > 14 ? line[2] : line[1]) : name;
  return text.length > 15 ? text.slice(0, 14) + "…" : text;
}
$("depth").addEventListener("change", drawGraph);
