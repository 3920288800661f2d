// Colours. A task function has the same one in every run.
const kinds = new Map();
runs.forEach(run => run.kinds.forEach(kind => {
  if (!kinds.has(kind.name)) kinds.set(kind.name, {name: kind.name, running: 0, sends: false, receives: false, off: false});
  const k = kinds.get(kind.name);
  k.running += kind.running; k.sends ||= kind.sends; k.receives ||= kind.receives;
}));
const hues = [212, 152, 32, 275, 345, 185, 55, 310, 95, 15];
[...kinds.values()].sort((a, b) => b.running - a.running).forEach((kind, i) => {
  kind.hue = hues[i % hues.length]; kind.ring = Math.floor(i / hues.length);
});
let dark = matchMedia("(prefers-color-scheme: dark)").matches;
const fromHash = new URLSearchParams(location.hash.slice(1));
if (fromHash.has("theme")) dark = fromHash.get("theme") === "dark";
let css = {};
function kindColor(kind) {
  const light = (dark ? 60 : 47) + kind.ring * (dark ? -11 : 12);
  return `hsl(${kind.hue} ${kind.sends || kind.receives ? 78 : 48}% ${light}%)`;
}
function applyTheme() {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  const style = getComputedStyle(document.documentElement);
  for (const name of ["bg", "panel", "ink", "soft", "line", "grid", "idle", "program", "accent", "hot", "select", "task", "over", "progress", "mpi", "idlebar"])
    css[name] = style.getPropertyValue("--" + name).trim();
  runs.forEach(run => { run.colors = run.names.map(name => kinds.has(name) ? kindColor(kinds.get(name)) : css.program); });
}
