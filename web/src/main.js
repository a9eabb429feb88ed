// The page: reads the data, keeps what is selected, and tells the parts of it.
import { byId, make, named } from "./dom.js";
import { readPlan } from "./facts.js";
import { bytes, ends, fileName, percent, plural, printable } from "./format.js";
import { fillKeys, neighbour } from "./keys.js";
import { MemoryMap } from "./map.js";
import { readPalette, watchTheme } from "./palette.js";
import * as panels from "./panels.js";
import * as prose from "./prose.js";
import { attachSearch } from "./search.js";

const plans = JSON.parse(byId("data").textContent).map(readPlan);
const compares = plans.length > 1;
const state = {
  regionAt: 0,
  side: plans.length - 1, // the one that the tables are about
  buffer: null,
  step: null,
  cursor: null, // the step in which the arrow keys are
  operators: { byBytes: false, all: false },
};
let palette = readPalette();

const regionOf = (plan) => plan.regions[Math.min(state.regionAt, plan.regions.length - 1)];
const sides = () => plans.map((plan) => ({ plan, region: regionOf(plan) }));
const current = () => sides()[state.side];
const indexOfSide = (side) => Math.max(0, plans.indexOf(side?.plan ?? plans[state.side]));

const map = new MemoryMap(byId("base"), byId("overlay"), {
  hover: showTooltip,
  select: (buffer, side) => select(buffer, side),
  selectStep: (step, side) => selectStep(step, side),
});
window.berthMap = map; // for tests, and for the curious at the console
const go = {
  buffer: (buffer, side) => {
    select(buffer, side);
    map.reveal(current(), buffer);
    if (innerWidth <= 900) byId("details").scrollIntoView({ block: "nearest" });
  },
  step: (step) => selectStep(step),
};

// ---- Selection ------------------------------------------------------------------------------------

function changeSelection(buffer, step, cursor, side) {
  const at = indexOfSide(side);
  if (at !== state.side) {
    state.side = at;
    fillTables();
  }
  Object.assign(state, { buffer, step, cursor });
  map.choose(buffer, step);
  map.selected.side = map.sides[state.side];
  panels.fillDetails(byId("details"), current(), state, palette, go);
  for (const row of document.querySelectorAll("#operators tr[data-step]")) {
    if (Number(row.dataset.step) === step) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
}

function select(buffer, side, cursor = buffer.first) {
  const region = (side ?? current()).region;
  if (buffer.region !== region.name) {
    const other = current().plan.regions.findIndex((r) => r.name === buffer.region);
    if (other >= 0) showRegion(other);
  }
  changeSelection(buffer, null, cursor, side);
  speak(`${printable(buffer.name)}, ${bytes(buffer.size)}, steps ${buffer.first} to ${buffer.last}`);
}

function selectStep(step, side) {
  changeSelection(null, step, step, side);
  const { plan, region } = current();
  speak(`${prose.stepText(plan, step)}: ${bytes(region.load[step])} live`);
}

const clearSelection = () => changeSelection(null, null, null);
const speak = (text) => (byId("spoken").textContent = text);

// ---- The tooltip ----------------------------------------------------------------------------------

function showTooltip(hit, x, y) {
  const tooltip = byId("tooltip");
  tooltip.hidden = !hit;
  if (!hit) return;
  const { plan, region } = hit.side;
  const lines = [];
  if (hit.buffer) {
    const { buffer } = hit;
    lines.push(make("b", {}, named(ends(printable(buffer.name), 90))));
    lines.push(`${bytes(buffer.size)}, ${buffer.first === buffer.last ? `step ${buffer.first}` : `steps ${buffer.first} to ${buffer.last}`}${buffer.hasKind ? `, ${buffer.kind}` : ""}`);
    if (buffer.ring) lines.push(`a ring: ${buffer.ring.rows} of ${buffer.ring.of} rows`);
    if (buffer.maker) lines.push(`made by ${prose.operatorText(buffer.maker)}`);
    if (buffer.readers.length > 0) {
      const more = buffer.readers.length - 1;
      lines.push(`read by ${prose.operatorText(buffer.readers[0])}${more > 0 ? ` and ${plural(more, "other")}` : ""}`);
    }
  }
  lines.push(`${hit.buffer ? "now " : ""}${prose.stepText(plan, hit.step)}: ${bytes(region.load[hit.step])} live`);
  tooltip.replaceChildren(...lines.map((line) => make("div", {}, line)));
  const { clientWidth: width, clientHeight: height } = tooltip.parentElement;
  const left = x + 16 + tooltip.offsetWidth > width ? x - 16 - tooltip.offsetWidth : x + 16;
  tooltip.style.left = `${Math.max(0, left)}px`;
  tooltip.style.top = `${Math.max(0, Math.min(y + 14, height - tooltip.offsetHeight))}px`;
}

// ---- Filling the page ------------------------------------------------------------------------------

function fillAnswer() {
  const { plan, region } = current();
  const [first, last] = [sides()[0], sides()[plans.length - 1]];
  byId("subject").textContent = plans.map((p) => printable(p.path)).join(" → ");
  document.title = `${bytes(last.region.height)}: ${fileName(last.plan.path)}, memory report`;
  const parts = compares ? prose.comparison(first.region, last.region) : prose.headline(plan, region);
  byId("headline").replaceChildren(...panels.emphasised(parts));
  const why = prose.reason(plan, region);
  byId("reason").replaceChildren(...(compares ? panels.emphasised([...prose.headline(plan, region), " "]) : []), why);
  const need = prose.need(plan);
  byId("need").hidden = need.length === 0;
  byId("need").replaceChildren(...panels.emphasised(need));
  fillAdvice(plan, region);
  panels.fillFigures(byId("figures"), plan, region);
}

// The two first lines, and the rest under what each kind of change asks for.
function fillAdvice(plan, region) {
  const lines = prose.advice(plan, region);
  const box = byId("first-try");
  box.hidden = lines.length === 0 && plan.advice === null; // null: nobody was asked
  const kinds = new Set(lines.slice(0, 2).map((entry) => entry.kind).filter(Boolean));
  const line = ({ title, text, kind, command, saves, exact }, at) =>
    [
      make("strong", {}, `${exact ? "" : "Up to "}${bytes(saves)} less (${percent(saves, region.height)}): `),
      title,
      text ? `: ${text}` : "",
      at < 2 && kinds.size > 1 ? make("span", { className: "soft" }, ` ${prose.KINDS[kind]}.`) : null,
      command ? make("code", {}, command) : null,
    ].filter(Boolean);
  if (lines.length === 0) {
    const nothing = "Nothing that was tried lowers this peak: smaller tensors, and so another model, would.";
    box.replaceChildren(make("h2", {}, "What to try first"), make("p", {}, nothing));
  } else {
    const item = (entry) => make("li", {}, ...line(entry, lines.indexOf(entry)));
    const list = (entries, start) => make("ol", { start: start + 1 }, ...entries.map(item));
    const more = [];
    for (let at = 2; at < lines.length; ) {
      const { kind } = lines[at];
      const end = lines.findIndex((entry, i) => i > at && entry.kind !== kind);
      const entries = lines.slice(at, end < 0 ? undefined : end);
      if (kind) more.push(make("h3", {}, prose.KINDS[kind] ?? kind));
      more.push(list(entries, at));
      at += entries.length;
    }
    const remark = lines[0].exact ? `(${kinds.size === 1 ? `${prose.KINDS[[...kinds][0]].toLowerCase()}; ` : ""}each was planned: the command shows it)` : "";
    box.replaceChildren(
      make("h2", {}, "What to try first ", remark ? make("span", {}, remark) : null),
      list(lines.slice(0, 2), 0),
      ...(more.length > 0 ? [make("details", {}, make("summary", {}, plural(lines.length - 2, "more idea")), ...more)] : []),
    );
  }
}

function fillTables() {
  const side = current();
  panels.fillPeak(byId("peak"), side, palette, go);
  panels.fillAccount(byId("account"), side, palette);
  panels.fillOperators(byId("operators"), side, go, state.operators);
  panels.fillDynamic(byId("dynamic"), side.plan);
  if (compares) panels.fillChanges(byId("changes"), sides(), go);
}

function showRegion(at) {
  state.regionAt = at;
  state.buffer = null;
  fillRegions();
  map.show(sides());
  fillAnswer();
  fillTables();
}

function fillRegions() {
  const names = plans[plans.length - 1].regions.map((region) => region.name);
  const element = byId("regions");
  element.hidden = names.length < 2;
  element.replaceChildren(
    ...names.map((name, at) => {
      const region = plans[plans.length - 1].regions[at];
      const text = `${printable(name)}: ${bytes(region.height)}${region.capacity ? ` of ${bytes(region.capacity)}` : ""}`;
      return make("button", { type: "button", "aria-pressed": String(at === state.regionAt), onclick: () => (showRegion(at), clearSelection()) }, text);
    }),
  );
}

function attachCompare() {
  byId("compare").hidden = !compares;
  if (!compares) return;
  const same = plans[0].path === plans[1].path;
  const name = (plan) => (same ? `planner ${plan.planner}` : fileName(plan.path));
  byId("before-name").textContent = `Before: ${name(plans[0])}`;
  byId("after-name").textContent = `After: ${name(plans[1])}`;
  byId("slider").addEventListener("input", (event) => {
    map.split = event.target.value / 100;
    map.hover(null);
  });
}

function goToPeak() {
  const side = current();
  const { step } = side.region.peak;
  map.zoomTo(side, step);
  selectStep(step);
}

function attachTools() {
  byId("zoom-in").onclick = () => map.zoomBy(1.6);
  byId("zoom-out").onclick = () => map.zoomBy(1 / 1.6);
  byId("zoom-reset").onclick = () => map.zoomReset();
  byId("zoom-peak").onclick = goToPeak;
  byId("show-load").onchange = (event) => {
    map.showLoad = event.target.checked;
    map.redraw();
  };
  byId("help").onclick = () => byId("keys").showModal();
  const touch = matchMedia("(pointer: coarse)").matches;
  byId("map-hint").textContent = touch
    ? "Tap a tensor to see who makes and who reads it. Two fingers zoom."
    : "Click a tensor to see who makes and who reads it. Ctrl and the wheel zoom; drag to move; or use the arrow keys.";
  fillKeys(byId("keys"));
  attachSearch(byId("search"), byId("found"), () => current().region.buffers, {
    found: (set) => {
      map.found = set;
      map.redraw();
      if (set) speak(`${plural(set.size, "tensor")} found`);
    },
    choose: (buffer) => {
      map.found = null; // it is chosen: nothing needs to be pale for it any longer
      go.buffer(buffer);
      byId("overlay").focus({ preventScroll: true });
    },
  });
}

function attachKeys() {
  byId("overlay").addEventListener("keydown", (event) => {
    if (!event.key.startsWith("Arrow") || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = neighbour(current().region, state, event.key);
    if (!next) return;
    select(next.buffer, undefined, next.step);
    map.reveal(current(), next.buffer);
  });
  const actions = {
    "+": () => map.zoomBy(1.6),
    "=": () => map.zoomBy(1.6),
    "-": () => map.zoomBy(1 / 1.6),
    0: () => map.zoomReset(),
    p: goToPeak,
    "/": () => byId("search").focus(),
    l: () => byId("show-load").click(),
    t: () => byId("theme").click(),
    "?": () => byId("keys").showModal(),
    Escape: clearSelection,
  };
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "checkbox" && event.target.type !== "range";
    if (typing || event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

fillRegions();
attachTools();
attachKeys();
attachCompare();
map.show(sides());
watchTheme(byId("theme"), () => {
  palette = readPalette();
  map.setPalette(palette);
  panels.fillLegend(byId("legend"), sides(), palette);
  panels.fillDetails(byId("details"), current(), state, palette, go);
  fillTables();
});
fillAnswer();
// What a test waits for, and a screen reader may say.
byId("overlay").setAttribute("aria-label", `Memory map: ${plural(current().region.buffers.length, "buffer")} in ${plural(current().plan.steps, "step")}. Arrow keys go from tensor to tensor.`);
document.documentElement.dataset.ready = "true";
