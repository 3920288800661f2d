// The runs: the data that the generator has put in, as arrays, and how numbers are shown.
"use strict";
const DATA = /*DATA*/null;
const $ = id => document.getElementById(id);
const NONE = 0xffffffff;

function column(text, Type) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return new Type(bytes.buffer);
}
function columns(object, types) {
  for (const key in object) object[key] = column(object[key], types[key] || Uint32Array);
  return object;
}
let rows = [];      // all rows of the timeline, top to bottom
const runs = DATA.runs;
runs.forEach((run, r) => {
  run.number = r;
  run.span = run.length / run.unit;
  columns(run.messages, {});
  // A row for each core of a node that ranks share: its uses, by begin.
  columns(run.cores, {lent: Uint8Array});
  const most = 1e6, places = Array.from(run.cores.core, (core, i) => run.cores.node[i] * most + core);
  run.severalNodes = new Set(run.cores.node).size > 1;
  run.coreRows = [...new Set(places)].sort((a, b) => a - b).map(place => {
    const uses = [...places.keys()].filter(i => places[i] === place), pick = key => Uint32Array.from(uses, i => run.cores[key][i]);
    return {run, node: Math.floor(place / most), core: place % most, begin: pick("begin"), end: pick("end"), process: pick("process"),
      lent: pick("lent")};
  });
  run.path.process = column(run.path.process, Uint32Array);
  run.path.task = column(run.path.task, Uint32Array);
  run.onPath = run.processes.map(() => new Set());
  for (let i = 0; i < run.path.task.length; ++i) run.onPath[run.path.process[i]].add(run.path.task[i]);
  run.processes.forEach((process, p) => {
    process.number = p; process.run = run;
    columns(process.tasks, {priority: Int32Array, flags: Uint8Array});
    columns(process.calls, {peer: Int32Array, bytes: Float32Array, direction: Uint8Array, tag: Int32Array});
    columns(process.edges, {});
    const n = process.tasks.name.length;
    process.before = lists(process.edges.to, process.edges.from, n);
    process.after = lists(process.edges.from, process.edges.to, n);
    process.callsOf = lists(process.calls.task, Uint32Array.from(process.calls.task.keys()), n);
    process.rows = {};
    process.threads.forEach((thread, t) => {
      for (const key of ["begin", "end", "task"]) thread[key] = column(thread[key], Uint32Array);
      if (thread.row < 0) return;
      const row = {run, process, thread, number: t};
      process.rows[t] = row; rows.push(row);
    });
  });
});
// values grouped by key: {first, item}
function lists(keys, values, n) {
  const first = new Uint32Array(n + 1);
  for (const k of keys) ++first[k + 1];
  for (let i = 0; i < n; ++i) first[i + 1] += first[i];
  const at = first.slice(), item = new Uint32Array(keys.length);
  keys.forEach((k, i) => { item[at[k]++] = values[i]; });
  return {first, item, of: k => item.subarray(first[k], first[k + 1])};
}
const taskName = (process, t) => t ? process.run.names[process.tasks.name[t]] : "outside of tasks";
function time(run, units) {
  const ns = units * run.unit;
  if (ns < 1e4) return (ns / 1e3).toFixed(2) + " µs";
  if (ns < 1e6) return (ns / 1e3).toFixed(1) + " µs";
  if (ns < 1e9) return (ns / 1e6).toFixed(ns < 1e7 ? 3 : 2) + " ms";
  return (ns / 1e9).toFixed(4) + " s";
}
const NS = {unit: 1};
const size = b => b < 1e4 ? b + " B" : b < 1e7 ? Math.round(b / 1e3) + " KB" : Math.round(b / 1e6) + " MB";
