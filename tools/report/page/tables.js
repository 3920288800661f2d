// Where the time went: bars, the legend and the tables.
const parts = [["task", "in-task", "task"], ["overhead", "overhead", "over"], ["progress", "communication progress", "progress"], ["program", "program outside of tasks", "program"], ["program_mpi", "MPI there", "mpi"], ["idle", "idle", "idlebar"]];
function drawStack() {
  const html = [], most = Math.max(...runs.flatMap(run => run.processes.map(p => sum(p).total)));
  function sum(process) {
    const all = {total: 0};
    for (const share of process.shares) for (const [key] of parts) { all[key] = (all[key] || 0) + share[key]; all.total += share[key]; }
    return all;
  }
  for (const run of runs) {
    if (runs.length > 1) html.push(`<div class="group">${escapeText(run.title)}</div>`);
    for (const process of run.processes) {
      const all = sum(process);
      html.push(`<span class="name">rank ${process.rank}</span><div class="track" title="${parts.map(([key, label]) => `${label} ${(100 * all[key] / all.total).toFixed(1)}%`).join(", ")}">` +
        parts.map(([key, , color]) => `<i style="width:${100 * all[key] / most}%;background:${css[color]}"></i>`).join("") + "</div>",
        `<span class="value">${(100 * all.task / all.total).toFixed(0)}% in-task, ${(100 * all.idle / all.total).toFixed(0)}% idle</span>`);
    }
  }
  for (const run of runs) // what the policy itself cost
    if (run.policy_passes)
      html.push(`<p class="hint" style="grid-column:1/-1;margin:.2rem 0">Policy ${escapeText(run.policy)}${runs.length > 1 ? ` (${escapeText(run.title)})` : ""}: priorities computed anew ${run.policy_passes} times, ${time(NS, run.policy_ns)} in all</p>`);
  $("stack").innerHTML = html.join("");
  $("stacklegend").innerHTML = parts.map(([, label, color]) => `<span><i class="swatch" style="background:${css[color]}"></i> ${label}</span>`).join("");
}
function drawLegend() {
  const box = $("legend");
  box.textContent = "";
  for (const kind of [...kinds.values()].sort((a, b) => b.running - a.running).slice(0, 16)) {
    const button = document.createElement("button");
    button.className = kind.off ? "off" : "";
    button.title = "show or hide";
    button.innerHTML = `<i class="swatch" style="background:${kindColor(kind)}"></i>${escapeText(kind.name)}${kind.sends ? " · sends" : ""}${kind.receives ? " · receives" : ""}`;
    button.addEventListener("click", () => { kind.off = !kind.off; button.className = kind.off ? "off" : ""; redraw(); });
    box.append(button);
  }
}
function efficiencies() {
  const percent = value => value === null || value === undefined ? "–" : (100 * value).toFixed(1) + "%";
  const row = (one, divided) => `<tr><td class="text">${escapeText(one.name)}</td>` +
    [one.parallel, one.mpi, divided && one.mpi_load_balance, divided && one.mpi_communication, one.mpi_serialization, one.mpi_transfer, one.openmp, one.openmp_serial, one.openmp_load_balance, one.openmp_scheduling]
      .map(value => `<td>${percent(value === false ? null : value)}</td>`).join("") + "</tr>";
  $("efficiency").innerHTML = runs.map(run => {
    const {job, ranks, phases, regions, undivided} = run.efficiency, several = ranks.length > 1;
    return (runs.length > 1 ? `<p class="hint" style="margin:.3rem 0">${escapeText(run.title)}</p>` : "") +
      "<table><tr><th class=text>of</th><th>parallel</th><th>MPI</th><th>load balance</th><th>communication</th><th>serialization</th><th>transfer</th><th>OpenMP</th><th>serial parts</th><th>load balance</th><th>scheduling</th></tr>" +
      row(job, several) + (several ? ranks.slice(0, 64).map(one => row(one, false)).join("") : "") +
      phases.slice(0, 10).map(one => row(one, several)).join("") + regions.slice(0, 10).map(one => row(one, false)).join("") + "</table>" +
      (several && undivided ? `<p class="hint" style="margin:.3rem 0">Communication is not divided: ${escapeText(undivided)}.</p>` : "");
  }).join("");
  $("hints").innerHTML = runs.flatMap(run => run.hints.map(line => `<li>${runs.length > 1 ? escapeText(run.title) + ": " : ""}${escapeText(line)}</li>`)).join("");
}
function tables() {
  efficiencies();
  const cells = list => "<tr>" + list.map(([v, text]) => `<td${text ? ' class="text"' : ""}>${escapeText(String(v))}</td>`).join("") + "</tr>";
  const share = (part, whole) => (whole ? 100 * part / whole : 0).toFixed(1) + "%";
  $("waits").innerHTML = runs.map(run => (runs.length > 1 ? `<p class="hint" style="margin:.3rem 0">${escapeText(run.title)}</p>` : "") +
    "<table><tr><th>call</th><th>of</th><th>for</th><th>calls</th><th>waited</th><th>longest</th><th>its tag</th><th>data</th><th class=text>in</th></tr>" +
    run.waits.slice(0, 8).map(wait => cells([[wait.call], ["rank " + wait.rank], [wait.peer >= 0 ? "rank " + wait.peer : "–"], [wait.calls], [time(NS, wait.total)], [time(NS, wait.longest)], [wait.tag >= 0 ? wait.tag : "–"], [size(wait.bytes)], [wait.task || "no task", true]])).join("") + "</table>").join("");
  $("kinds").innerHTML = runs.map(run => (runs.length > 1 ? `<p class="hint" style="margin:.3rem 0">${escapeText(run.title)}</p>` : "") +
    "<table><tr><th>function</th><th>count</th><th>in-task</th><th>overhead</th><th>at once</th><th>ready before start</th><th>priority</th></tr>" +
    run.kinds.slice(0, 10).map(kind => cells([[kind.name + (kind.sends ? " · sends" : "") + (kind.receives ? " · receives" : "")], [kind.count], [time(NS, kind.running)], [share(kind.overhead, kind.running + kind.overhead)], [share(kind.at_once, kind.count)], [time(NS, kind.waited / kind.count)], [kind.low === kind.high ? kind.low : kind.low + "–" + kind.high]])).join("") + "</table>").join("");
  $("counting").hidden = !runs.some(run => run.counters.rows.length);
  $("counters").innerHTML = runs.filter(run => run.counters.rows.length).map(run => (runs.length > 1 ? `<p class="hint" style="margin:.3rem 0">${escapeText(run.title)}</p>` : "") +
    `<table><tr><th>function</th><th>tasks</th>${run.counters.names.map(name => `<th>${escapeText(name)}</th>`).join("")}<th>IPC</th><th>cache misses</th><th>branch misses</th></tr>` +
    run.counters.rows.filter((row, i) => i < 10 || !row.tasks).map(row => cells([[row.name], [row.tasks || "–"], ...row.values.map(value => [value.toLocaleString("en")]), ...[row.ipc, row.cache_misses, row.branch_misses].map(value => [value === null ? "–" : value.toFixed(2)])])).join("") + "</table>").join("");
  $("apart").hidden = !runs.some(run => run.moved.length);
  $("movedcalls").innerHTML = runs.filter(run => run.moved.length).map(run => (runs.length > 1 ? `<p class="hint" style="margin:.3rem 0">${escapeText(run.title)}</p>` : "") +
    "<table><tr><th>call</th><th class=text>at</th><th class=text>how</th><th>times</th><th>until the wait</th><th>waited</th><th>hidden</th></tr>" +
    run.moved.slice(0, 20).map(one => cells([[one.call], [one.place, true], [one.how, true], [one.times], [time(NS, one.until_wait / one.times)], [time(NS, one.waited / one.times)], [(100 * one.hidden).toFixed(1) + "%"]])).join("") + "</table>").join("");
  $("moves").hidden = !runs.some(run => run.core_shares.length);
  $("cores").innerHTML = runs.filter(run => run.core_shares.length).map(run => (runs.length > 1 ? `<p class="hint" style="margin:.3rem 0">${escapeText(run.title)}</p>` : "") +
    "<table><tr><th></th><th>on own cores</th><th>on others'</th><th>its own lent</th><th>without</th><th>waited for one</th><th>borrowed</th><th>recalled</th><th>late</th></tr>" +
    run.core_shares.map((one, p) => "<tr>" + `<td><i class="swatch" style="background:${rankColor(p)}"></i> rank ${run.processes[p].rank}</td>` +
      [one.own, one.borrowed, one.lent, one.without, one.waited].map(ns => `<td>${time(NS, ns)}</td>`).join("") +
      [one.borrowings, one.recalls, one.late].map(count => `<td>${count}</td>`).join("") + "</tr>").join("") + "</table>").join("");
  const percent = lambda => lambda.toFixed(1) + "%";
  $("balance").innerHTML = runs.map(run => {
    const {levels, regions} = run.balance, offers = regions.some(kind => kind.offered !== null);
    const split = kind => offers ? [kind.offered, kind.taken].map(threads => [threads ?? "–"]) : [];
    return (runs.length > 1 ? `<p class="hint" style="margin:.3rem 0">${escapeText(run.title)}</p>` : "") +
      "<table><tr><th>work of</th><th>number</th><th>&lambda; = most / mean &minus; 1</th><th>mean</th><th>most</th></tr>" +
      levels.map(level => cells([[level.name], [level.parts], [percent(level.lambda)], [time(NS, level.mean)], [time(NS, level.most)]])).join("") + "</table>" +
      (regions.length ? `<table><tr><th>parallel region</th><th>runs</th><th>threads</th><th>&lambda;</th><th>work</th><th>lost</th>${offers ? "<th>offered</th><th>taken</th>" : ""}</tr>` +
      regions.slice(0, 10).map(kind => cells([[kind.name], [kind.runs], [kind.workers], [percent(kind.lambda)], [time(NS, kind.work)], [time(NS, kind.lost)], ...split(kind)])).join("") + "</table>" : "");
  }).join("");
  $("moved").hidden = !runs.some(run => run.objects.list.length);
  $("objects").innerHTML = runs.map(run => {
    const {calls, ranks, list, sets} = run.objects;
    const of = one => sets > 1 ? " of set " + one.set : "";
    const title = runs.length > 1 ? `<p class="hint" style="margin:.3rem 0">${escapeText(run.title)}</p>` : "";
    const head = names => "<table><tr>" + names.map(name => `<th>${name}</th>`).join("") + "</tr>";
    const moved = call => call.declined ? "declined" : call.moved + (call.failed ? `, ${call.failed} failed` : "");
    return title + (calls.length ? head(["sennit_balance() at", "strategy", "&lambda;", "of nodes", "promised", "then", "lost", "then", "moved", "data", "took"]) +
      calls.slice(0, 20).map(call => cells([[time(NS, call.at) + of(call)], [call.strategy], [percent(call.lambda)], [percent(call.nodes)], [percent(call.promised)], [call.then < 0 ? "–" : percent(call.then)],
        [time(NS, call.lost)], [call.then < 0 ? "–" : time(NS, call.lost_then)], [moved(call)], [size(call.bytes)], [time(NS, call.took)]])).join("") + "</table>" : "") +
      (list.length ? head(["rank", "objects at the end", "work", "came", "left", "data that left"]) +
      ranks.map(rank => cells([["rank " + rank.rank], [rank.held], [time(NS, rank.work)], [rank.came], [rank.left], [size(rank.bytes)]])).join("") + "</table>" +
      head(["most work", "last on", "work", "moves", "size"]) +
      list.slice(0, 10).map(one => cells([[`object ${one.object}` + of(one)], ["rank " + one.rank], [time(NS, one.work)], [one.moves], [size(one.bytes)]])).join("") + "</table>" : "");
  }).join("");
}
