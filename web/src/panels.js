// Everything beside the map: figures, details of what is selected, and the tables. Each function
// fills one element anew; `go` has buffer(buffer) and step(step), which select.
import { make, named, swatch } from "./dom.js";
import { account, CLASSES, largest, letterOf, liveAt, operatorAt, pairBuffers, roleIn } from "./facts.js";
import { bytes, ends, grouped, percent, plural, printable } from "./format.js";
import { keptBy, operatorText } from "./prose.js";

const FEW = 50; // rows of a long table before somebody asks for all

export const emphasised = (parts) =>
  parts.map((part) => (typeof part === "string" ? part : make("strong", {}, part.strong)));

// ---- Figures and legend -------------------------------------------------------------------------

export function fillFigures(element, plan, region) {
  const figure = (label, value, remark = "") =>
    make("div", {}, make("dd", {}, value), make("dt", {}, label, remark ? make("small", {}, `, ${remark}`) : null));
  const single = plan.regions.length === 1;
  const figures = [figure(single ? "Peak" : `Used of ${printable(region.name)}`, bytes(region.height), `${grouped(region.height)} bytes`)];
  if (region.capacity) figures.push(figure("Capacity", bytes(region.capacity)));
  if (single) {
    const above = region.height - plan.lowerBound;
    figures.push(
      figure("No placement can be below", bytes(plan.lowerBound), plan.optimal ? "proven optimal" : above > 0 ? `${bytes(above)} to gain at most` : ""),
    );
  }
  figures.push(figure("Without sharing memory", bytes(plan.sumBytes), plan.sumBytes > region.height && single ? `${percent(plan.sumBytes - region.height, plan.sumBytes)} saved` : ""));
  if (plan.variableBytes > 0) figures.push(figure("Variables, always live", bytes(plan.variableBytes)));
  if (region.peak.alignment > 0) figures.push(figure("Alignment, of the peak", bytes(region.peak.alignment)));
  if (region.peak.fragmentation > 0) figures.push(figure("Gaps, of the peak", bytes(region.peak.fragmentation)));
  element.replaceChildren(...figures);
}

export function fillLegend(element, sides, palette) {
  const seen = CLASSES.filter((kind) => sides.some((s) => s.region.buffers.some((b) => b.kind === kind && b.hasKind)));
  const shares = sides.some((s) => s.region.shared.length > 0); // then it is no bound for them
  const items = seen.map((kind) => {
    const pair = make("span", { className: "swatch pair", "aria-hidden": "true" });
    pair.style.background = `linear-gradient(90deg, ${palette.strong[kind]} 50%, ${palette.pale[kind]} 50%)`;
    return make("li", {}, pair, kind);
  });
  items.push(make("li", {}, make("span", { className: "swatch line", "aria-hidden": "true" }), shares ? "bytes live in each step" : "lower bound: bytes live in each step"));
  if (shares) items.push(make("li", {}, "striped: two tensors share these bytes"));
  if (sides.some((s) => s.plan.runs.length > 0)) items.push(make("li", {}, "shaded: executed row by row, lined: a ring of rows"));
  items.push(make("li", {}, "strong colour: live at the peak"));
  element.replaceChildren(...items);
}

// ---- Details ------------------------------------------------------------------------------------

const bufferLink = (buffer, go) =>
  make("button", { type: "button", className: "link", onclick: () => go.buffer(buffer) }, named(buffer.brief, printable(buffer.name)), ` (${bytes(buffer.size).replace(" ", "\u00a0")})`);

const operatorLink = (operator, go) =>
  operator.step === null
    ? make("span", {}, operatorText(operator))
    : make("button", { type: "button", className: "link", onclick: () => go.step(operator.step) }, operatorText(operator));

const links = (elements, none) => (elements.length > 0 ? make("div", { className: "links" }, ...elements) : none);

function limited(list, each) {
  const elements = list.slice(0, 12).map(each);
  if (list.length > 12) elements.push(make("span", {}, `and ${list.length - 12} more`));
  return elements;
}

const row = (term, ...value) => [make("dt", {}, term), make("dd", {}, ...value)];

export function fillDetails(element, side, selected, palette, go) {
  const { buffer, step } = selected;
  if (buffer) fillBuffer(element, side, buffer, palette, go);
  else if (step !== null) fillStep(element, side, step, go);
  else {
    element.replaceChildren(
      make("h2", { id: "details-heading" }, "Details"),
      make("p", { className: "empty" }, "Choose a tensor or a step in the map to see how long it lives, who makes it and who reads it."),
    );
  }
}

function fillBuffer(element, { plan, region }, buffer, palette, go) {
  const letter = letterOf(region, buffer);
  const list = make("dl", {});
  const shape = buffer.shape?.length ? buffer.shape.join(" × ") : buffer.shape ? "scalar" : null;
  const padding = buffer.size - buffer.bytes;
  const name = printable(buffer.name);
  const long = name.length > 48;
  list.append(
    ...(long ? row("Name", named(name)) : []),
    ...row("Size", `${bytes(buffer.size)} (${grouped(buffer.size)} bytes${padding > 0 ? `, of them ${padding} padding` : ""})`),
    ...(buffer.hasKind ? row("Class", swatch(palette.strong[buffer.kind]), ` ${buffer.kind}`) : []),
    ...(buffer.type ? row("Type", [buffer.type, shape].filter(Boolean).join(", ")) : []),
    ...row("Lives", buffer.first === buffer.last ? `in step ${buffer.first}` : `steps ${buffer.first} to ${buffer.last}`),
    ...(buffer.ring ? row("Ring", `${buffer.ring.rows} of ${buffer.ring.of} rows at a time, ${grouped(buffer.ring.rowBytes)} bytes each`) : []),
    ...row("Address", `${grouped(buffer.offset)} to ${grouped(buffer.offset + buffer.size - 1)}`),
    ...(region.peak.live.includes(buffer)
      ? row("At the peak", `${percent(buffer.size, region.height)}: ${keptBy(plan, region, buffer)}`)
      : row("At the peak", "not live")),
    ...(plan.isModel
      ? [
          ...row("Made by", buffer.maker ? operatorLink(buffer.maker, go) : buffer.kind === "input" ? "the application (an input)" : "–"),
          ...row("Read by", links(limited(buffer.readers, (op) => operatorLink(op, go)), buffer.kind === "output" ? "the application (an output)" : "nobody")),
        ]
      : []),
    ...(buffer.tensor !== null && buffer.tensor !== undefined
      ? row("Tensor", `${buffer.tensor}${buffer.subgraph > 0 ? ` of subgraph ${buffer.subgraph}` : ""}`)
      : []),
  );
  element.replaceChildren(
    make("h2", { id: "details-heading" }, letter ? `${letter} ` : "", named(long ? buffer.brief : name)),
    list,
  );
}

function fillStep(element, { plan, region }, step, go) {
  const operator = operatorAt(plan, step);
  const live = liveAt(region, step);
  const kept = live.filter((b) => roleIn(b, operator) === "keeps");
  const run = plan.runs.find(({ first, last }) => first <= step && step <= last);
  const list = make("dl", {});
  list.append(
    ...row("Live", `${bytes(region.load[step])} (${percent(region.load[step], region.height)} of the peak)`),
    ...(run ? row("Streamed", `row by row, together with steps ${run.first} to ${run.last}`) : []),
    ...(operator
      ? [
          ...row("Reads", links(limited(operator.inputs, (b) => bufferLink(b, go)), "nothing that is planned")),
          ...row("Writes", links(limited(operator.outputs, (b) => bufferLink(b, go)), "nothing that is planned")),
        ]
      : []),
    ...row(operator ? "Kept for later" : "Buffers", links(limited(kept, (b) => bufferLink(b, go)), "nothing")),
  );
  const title = operator ? `Step ${step}: ${printable(operator.name)}` : `Step ${step}`;
  element.replaceChildren(
    make("h2", { id: "details-heading" }, title),
    ...(step === region.peak.step ? [make("p", { className: "empty" }, "The peak is here.")] : []),
    list,
  );
}

// ---- Tables -------------------------------------------------------------------------------------

function table(headings, rows) {
  return make(
    "table",
    {},
    make("thead", {}, make("tr", {}, ...headings.map(([text, className = ""]) => make("th", { scope: "col", className }, text)))),
    make("tbody", {}, ...rows),
  );
}

const cell = (className, ...children) => make("td", { className }, ...children);

// Adds a button that shows all rows, if there are more than a few.
function withMore(element, count, noun, all, again) {
  if (count <= FEW || all) return;
  element.append(make("button", { type: "button", className: "more", onclick: again }, `Show all ${plural(count, noun)}`));
}

export function fillPeak(element, side, palette, go, all = false) {
  const { plan, region } = side;
  const { peak } = region;
  const operator = operatorAt(plan, peak.step);
  const rows = peak.live.slice(0, all ? undefined : FEW).map((buffer) => {
    const letter = letterOf(region, buffer);
    const mark = make("span", { className: "mark" }, letter);
    mark.style.background = palette.strong[buffer.kind];
    mark.style.color = palette.inkOn[buffer.kind];
    return make(
      "tr",
      {},
      cell("fit", mark),
      cell("name", make("button", { type: "button", className: "link", onclick: () => go.buffer(buffer) }, named(ends(printable(buffer.name), 90), printable(buffer.name)))),
      cell("number", grouped(buffer.size)),
      cell("number wide", percent(buffer.size, region.height)),
      ...(plan.isModel ? [cell("wide maker", buffer.maker ? operatorLink(buffer.maker, go) : buffer.kind === "input" ? "the application" : "–")] : []),
      cell("why", keptBy(plan, region, buffer)),
    );
  });
  const losses = [];
  if (peak.alignment > 0) losses.push(`${grouped(peak.alignment)} bytes of these are alignment`);
  if (peak.fragmentation > 0) losses.push(`${grouped(peak.fragmentation)} bytes are lost to gaps`);
  if (peak.overlap > 0) losses.push(`${grouped(peak.overlap)} bytes are saved by overlaps`);
  element.replaceChildren(
    make("h2", { id: "peak-heading" }, `Live at the peak: step ${peak.step}${operator ? `, ${printable(operator.name)}` : ""}`),
    table(
      [["", "fit"], ["Buffer"], ["Bytes", "number"], ["Share", "number wide"], ...(plan.isModel ? [["Made by", "wide maker"]] : []), ["Why it is live", "why"]],
      rows,
    ),
    ...(losses.length > 0 ? [make("p", { className: "lead" }, `${losses.join("; ")}.`)] : []),
  );
  withMore(element, peak.live.length, "buffer", all, () => fillPeak(element, side, palette, go, true));
}

export function fillAccount(element, { plan, region }, palette) {
  const lines = account(plan, region).map(({ name, kind, bytes: number, sum }) =>
    make(
      "tr",
      { className: sum ? "sum" : "" },
      cell("", kind ? swatch(palette.strong[kind]) : null, kind ? " " : "", name),
      cell("number", `${number < 0 ? "−" : ""}${grouped(Math.abs(number))}`),
    ),
  );
  element.replaceChildren(make("h2", { id: "account-heading" }, "What it is made of"), table([["Class at the peak, and more"], ["Bytes", "number"]], lines));
}

// `state` keeps sorting and length between calls: { byBytes, all }.
export function fillOperators(element, side, go, state) {
  const { plan, region } = side;
  const operators = plan.operators.filter((op) => !op.foldable || op.outputs.length > 0);
  element.hidden = operators.length === 0;
  if (element.hidden) return;
  const order = [...operators];
  const fullest = Math.max(1, region.height, largest(region.load)); // overlaps let more be live than there is
  const live = (op) => (op.step === null ? -1 : region.load[op.step] ?? 0);
  if (state.byBytes) order.sort((a, b) => live(b) - live(a));
  const again = (change) => () => {
    Object.assign(state, change);
    fillOperators(element, side, go, state);
  };
  const rows = order.slice(0, state.all ? undefined : FEW).map((op) => {
    const bar = make("span", { className: "bar" });
    bar.style.width = op.step === null ? "0" : `${(100 * live(op)) / fullest}%`;
    const names = (buffers) => limitedInline(buffers, go);
    const line = make(
      "tr",
      { className: op.step === region.peak.step ? "is-peak" : "" },
      cell("number fit", op.step === null ? `${op.subgraph}:${op.index}` : String(op.step)),
      cell(op.name.length > 20 ? "" : "op", op.step === null ? named(printable(op.name)) : make("button", { type: "button", className: "link", onclick: () => go.step(op.step) }, printable(op.name))),
      cell("number", op.step === null ? "" : grouped(live(op))),
      cell("bar-cell", bar),
      cell("wide", ...names(op.outputs)),
      cell("wide", ...names(op.inputs)),
    );
    if (op.step !== null) line.dataset.step = op.step;
    return line;
  });
  const folded = plan.operators.length - operators.length;
  const sort = (text, byBytes) =>
    make("button", { type: "button", className: "sort", "aria-pressed": String(state.byBytes === byBytes), onclick: again({ byBytes }) }, text);
  const heading = make("h2", { id: "operators-heading" }, "Operators");
  element.replaceChildren(
    heading,
    make("p", { className: "lead" }, `${plural(operators.length, "operator")}, in the order of execution or by the bytes that are live while they run.${folded > 0 ? ` ${plural(folded, "operator")} on constants need no planned memory and are left out.` : ""}`),
    table([[sort("Step", false), "number"], ["Operator"], [sort("Bytes live", true), "number"], ["", "bar-cell"], ["Writes", "wide"], ["Reads", "wide"]], rows),
  );
  withMore(element, operators.length, "operator", state.all, again({ all: true }));
}

function limitedInline(buffers, go) {
  const parts = [];
  for (const buffer of buffers.slice(0, 4)) {
    if (parts.length > 0) parts.push(make("br"));
    parts.push(make("button", { type: "button", className: "link", onclick: () => go.buffer(buffer) }, named(buffer.brief, printable(buffer.name))));
  }
  if (buffers.length > 4) parts.push(make("br"), `and ${buffers.length - 4} more`);
  return parts;
}

export function fillChanges(element, [before, after], go, all = false) {
  const pairs = pairBuffers(before.plan, after.plan);
  const size = (buffer) => buffer?.size ?? 0;
  const appeared = pairs.filter((p) => !p.before);
  const gone = pairs.filter((p) => !p.after);
  const both = pairs.filter((p) => p.before && p.after);
  const resized = both.filter((p) => size(p.before) !== size(p.after));
  const moved = both.filter((p) => size(p.before) === size(p.after) && (p.before.offset !== p.after.offset || p.before.region !== p.after.region));
  const shown = [...resized, ...appeared, ...gone].sort((a, b) => Math.abs(size(b.after) - size(b.before)) - Math.abs(size(a.after) - size(a.before)));
  shown.push(...moved.sort((a, b) => size(b.after) - size(a.after)));
  const place = (buffer) => (buffer ? `${grouped(buffer.size)} at ${grouped(buffer.offset ?? 0)}` : "–");
  const rows = shown.slice(0, all ? undefined : FEW).map((p) => {
    const difference = size(p.after) - size(p.before);
    const buffer = p.after ?? p.before;
    const what = !p.before ? "new" : !p.after ? "gone" : difference === 0 ? "moved" : "size";
    return make(
      "tr",
      {},
      cell("name", make("button", { type: "button", className: "link", onclick: () => go.buffer(buffer, p.after ? after : before) }, named(printable(buffer.name)))),
      cell("fit", what),
      cell("number wide", place(p.before)),
      cell("number wide", place(p.after)),
      cell("number", make("span", { className: difference < 0 ? "less" : difference > 0 ? "greater" : "" }, difference === 0 ? "0" : `${difference > 0 ? "+" : "−"}${grouped(Math.abs(difference))}`)),
    );
  });
  const counts = [
    [resized.length, "changed size"],
    [appeared.length, "new"],
    [gone.length, "gone"],
    [moved.length, "moved"],
    [both.length - resized.length - moved.length, "as before"],
  ];
  element.hidden = false;
  element.replaceChildren(
    make("h2", { id: "changes-heading" }, "What changed"),
    make("p", { className: "lead" }, `${counts.filter(([n]) => n > 0).map(([n, what]) => `${grouped(n)} ${what}`).join(", ")}. Tensors are paired by name.`),
    ...(rows.length > 0
      ? [table([["Buffer"], ["", "fit"], ["Before: bytes at address", "number wide"], ["After: bytes at address", "number wide"], ["Bytes", "number"]], rows)]
      : []),
  );
  withMore(element, shown.length, "change", all, () => fillChanges(element, [before, after], go, true));
}

export function fillDynamic(element, plan) {
  element.hidden = plan.dynamic.length === 0;
  if (element.hidden) return;
  const rows = plan.dynamic.slice(0, FEW).map((tensor) =>
    make("tr", {}, cell("number fit", String(tensor.tensor)), cell("name", named(printable(tensor.name))), cell("number wide", `${tensor.first} to ${tensor.last}`), cell("", tensor.cause)),
  );
  element.replaceChildren(
    make("h2", { id: "dynamic-heading" }, "Not counted: sizes known only at run time"),
    table([["Tensor", "number"], ["Name"], ["Steps", "number wide"], ["Why"]], rows),
    ...(plan.dynamic.length > FEW ? [make("p", { className: "lead" }, `and ${plan.dynamic.length - FEW} more`)] : []),
  );
}
