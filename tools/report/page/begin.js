// What is shown first.
applyTheme();
const first = runs[0];
const base = title => title.split("/").pop() || title;
$("title").textContent = runs.length > 1 ? runs.map(run => base(run.title)).join("  and  ") : first.title;
const count = first.processes.reduce((n, p) => n + p.tasks.started.reduce((m, v) => m + (v !== NONE), 0), 0);
$("subtitle").textContent = `${first.program} · ${first.processes.length} ranks · ` + (runs.length > 1 ? `policies ${runs.map(run => run.policy).join(", ")}` : `policy ${first.policy} · ${time(NS, first.length)}`) +
  ` · ${count.toLocaleString("en")} tasks · critical path ${time(NS, first.path.length)}`;
document.title = "Sennit: " + $("title").textContent;
$("notes").innerHTML = runs.flatMap(run => run.notes.map(note => `<p class="note">${escapeText(run.title)}: ${escapeText(note)}</p>`)).join("");
const orders = {
  steal: "each thread runs its newest task first, idle threads take the oldest of others", fifo: "tasks run in the order of their creation", lifo: "what became ready last runs first",
  ma1: "tasks with a priority clause run first", ma2: "tasks with a priority clause run first", ma3: "the highest priority clause runs first",
  sa: "tasks that the program marked as senders run first, and what leads to them before the rest", fa: "tasks that send to other ranks run first, and what leads to them before the rest; Sennit finds out which do",
  global: "as fa, and long messages leave in the order in which their receivers need them",
};
if (DATA.changes.length) {
  $("policies").innerHTML = runs.map(run => orders[run.policy] ? `<p style="margin:.4rem 0 0"><b>${escapeText(base(run.title))}</b>: ${base(run.title) === run.policy ? "" : `policy ${escapeText(run.policy)}, `}${orders[run.policy]}.</p>` : "").join("");
}
if (DATA.changes.length) { $("changed").hidden = false; $("changes").innerHTML = DATA.changes.flat().map(line => `<li>${escapeText(line)}</li>`).join(""); }
// The graph begins at a send on the critical path, or at any.
(function choose() {
  const run = runs.at(-1);
  for (let i = Math.floor(run.path.task.length / 2); i < run.path.task.length; ++i) {
    const process = run.processes[run.path.process[i]];
    if (process.tasks.flags[run.path.task[i]] & 1) { selected = {process, task: run.path.task[i]}; break; }
  }
  if (!selected && run.path.task.length) selected = {process: run.processes[run.path.process[0]], task: run.path.task[0]};
})();
view = {begin: -longest * .005, end: longest * 1.005};
if (fromHash.has("from")) view = {begin: longest * fromHash.get("from"), end: longest * fromHash.get("to")};
arrange(); drawLegend(); drawStack(); tables(); select(selected); draw();
new ResizeObserver(() => { arrange(); drawGraph(); draw(); }).observe(canvas.parentElement);
window.sennit = {setView, draw, rows, runs};
