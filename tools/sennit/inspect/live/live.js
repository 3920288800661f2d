"use strict";
// What /data says is drawn twice a second. The last minute is what this page has seen of it.
const MINUTE = 60, PARTS = ["useful", "mpi", "serial", "imbalance", "scheduling"];
const NAMES = {useful: "useful", mpi: "MPI", serial: "serial", imbalance: "imbalance", scheduling: "scheduling"};
const seen = [];          // {at, processes, cores}: the oldest first
const who = new Map();    // by slot and pid: its number, which chooses its colour
let failures = 0;
window.sennit = {seen, over: false};

const element = id => document.getElementById(id);
const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
const percent = part => Math.round(100 * part) + "%";
const sum = spent => PARTS.reduce((all, part) => all + spent[part], 0);

function name(process) {
  return process.program + (process.rank < 0 ? "" : " rank " + process.rank) + " (" + process.pid + ")";
}
function colour_of(process) {
  const key = process.slot + ":" + process.pid;
  if (!who.has(key)) who.set(key, who.size);
  return "hsl(" + (who.get(key) * 137.5) % 360 + " 55% 50%)";
}

// Names of programs may hold anything: they are text, and nothing else.
function fill(table, head, rows) {
  table.replaceChildren();
  const line = (cells, tag) => {
    const row = document.createElement("tr");
    for (const text of cells) row.appendChild(document.createElement(tag)).textContent = text;
    table.appendChild(row);
  };
  line(head, "th");
  for (const row of rows) line(row, "td");
}

function show_tables(top) {
  const counted = top.processes.some(process => process.spent);
  element("efficiency").hidden = !counted;
  element("uncounted").hidden = counted;
  fill(element("processes"), ["process", "state", "owns", "uses", "wants", "cores in use", "borrowed", "lent",
                              ...(counted ? ["threads", "MPI calls", ...PARTS.map(part => NAMES[part])] : [])],
    top.processes.map(process => {
      const all = process.spent ? sum(process.spent.period_ns) : 0;
      return [name(process), process.state, process.owns, process.uses, process.wants, process.cores_in_use.toFixed(2),
              percent(process.borrowed_part), percent(process.lent_part),
              ...(!counted ? [] : !process.spent ? ["", "", "", "", "", "", ""]
                : [process.spent.threads, process.spent.mpi_calls,
                   ...PARTS.map(part => all ? percent(process.spent.period_ns[part] / all) : "")])];
    }));
  const columns = ["parallel", "mpi", "mpi_load_balance", "mpi_communication", "openmp", "openmp_serial",
                   "openmp_load_balance", "openmp_scheduling"];
  fill(element("efficiencies"), ["job", "", "parallel", "MPI", "MPI: load balance", "communication", "OpenMP",
                                 "OpenMP: serial parts", "load balance", "scheduling"],
    top.efficiencies.flatMap(job => [["now", job.now], ["since the start", job.since_start]].map(([when, numbers], i) =>
      [i ? "" : job.program + ":" + job.job, when, ...columns.map(column => percent(numbers[column]))])));
  const by_slot = new Map(top.processes.map(process => [process.slot, process]));
  const of = slot => by_slot.has(slot) ? name(by_slot.get(slot)) : "nobody";
  element("cores-section").hidden = top.cores.length === 0;
  fill(element("cores"), ["core", "owner", "used by", ""], top.cores.map(core =>
    [core.core, of(core.owner), core.user < 0 ? "free" : of(core.user), core.recalled ? "wanted back" : ""]));
}

// A row for each core and each process; from the left, the oldest of the last minute.
function draw() {
  const canvas = element("timeline"), last = seen[seen.length - 1];
  if (!last) return;
  const rows = [...last.cores.map(core => ({core: core.core, text: "core " + core.core})),
                ...last.processes.map(process => ({slot: process.slot, pid: process.pid, text: name(process)}))];
  const height = 24, left = 170, scale = window.devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.style.height = rows.length * height + 18 + "px";
  canvas.width = width * scale;
  canvas.height = (rows.length * height + 18) * scale;
  const to = canvas.getContext("2d");
  to.scale(scale, scale);
  to.font = "12px system-ui, sans-serif";
  const x = at => left + (width - left) * Math.max(0, 1 - (last.at - at) / MINUTE);
  rows.forEach((row, number) => {
    const y = number * height;
    to.fillStyle = colour("ink");
    to.fillText(row.text, 2, y + 16, left - 8);
    to.fillStyle = colour("idle");
    to.fillRect(left, y + 2, width - left, height - 4);
    for (let i = 1; i < seen.length; ++i) {
      const one = seen[i], begin = x(seen[i - 1].at), length = Math.max(0.5, x(one.at) - begin);
      if (row.core !== undefined) {
        const core = one.cores.find(other => other.core === row.core);
        const user = core && core.user >= 0 && one.processes.find(process => process.slot === core.user);
        if (!user) continue;
        to.fillStyle = colour_of(user);
        to.fillRect(begin, y + 2, length, height - 4);
        continue;
      }
      const process = one.processes.find(other => other.slot === row.slot && other.pid === row.pid);
      if (!process) continue;
      const all = process.spent ? sum(process.spent.period_ns) : 0;
      let bottom = y + height - 2;
      const pieces = all > 0 ? PARTS.map(part => [part, process.spent.period_ns[part] / all])
        : [[process.state === "waits" ? "mpi" : process.state === "idle" ? "idle" : "useful", 1]];
      for (const [part, share] of pieces) {
        const piece = share * (height - 4);
        to.fillStyle = colour(part);
        to.fillRect(begin, bottom - piece, length, piece);
        bottom -= piece;
      }
    }
  });
  to.fillStyle = colour("soft");
  for (let ago = 0; ago <= MINUTE; ago += 10) {
    const text = ago ? "-" + ago + " s" : "now", at = left + (width - left) * (1 - ago / MINUTE);
    to.fillText(text, Math.min(at, width - to.measureText(text).width), rows.length * height + 13);
  }
  const legend = element("legend");
  legend.replaceChildren();
  const entry = (shade, text) => {
    const item = legend.appendChild(document.createElement("span"));
    item.appendChild(document.createElement("i")).style.background = shade;
    item.append(text);
  };
  for (const part of PARTS) entry(colour(part), NAMES[part]);
  if (last.cores.length) for (const process of last.processes) entry(colour_of(process), "core used by " + name(process));
}

function say(text, over) {
  element("state").textContent = text;
  element("state").className = over ? "over" : "";
}

function take(data) {
  data.top.processes.sort((a, b) => a.job - b.job || a.rank - b.rank || a.pid - b.pid);
  element("title").textContent = data.title;
  document.title = data.title;
  if (!seen.length || data.at > seen[seen.length - 1].at) {
    seen.push({at: data.at, processes: data.top.processes, cores: data.top.cores});
    while (seen.length && seen[0].at < data.at - MINUTE) seen.shift();
  }
  if (data.over) { // what there was stays to be looked at
    window.sennit.over = true;
    say("the last process has ended", true);
  } else {
    say(data.top.processes.length ? "live" : "no process takes part yet", false);
    show_tables(data.top);
  }
  draw();
}

async function look() {
  try {
    const answer = await fetch("data" + location.search, {cache: "no-store"});
    if (!answer.ok) throw new Error("status " + answer.status);
    take(await answer.json());
    failures = 0;
  } catch (error) {
    ++failures;
    say("sennit top does not answer (" + error.message + ")", true);
  }
  if (!window.sennit.over && failures < 20) setTimeout(look, 500);
}
addEventListener("resize", draw);
look();
