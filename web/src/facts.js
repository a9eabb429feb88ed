// What follows from a document of `berth plan --json` or `berth inspect --json`: for each buffer who
// makes and who reads it, for each step what is live, and what makes the peak. No drawing here, and
// no browser; tested with node alone.

import { brieflyAll } from "./format.js";

export const CLASSES = ["input", "activation", "output", "scratch", "workspace", "variable", "reserved"];

const key = (subgraph, tensor) => `${subgraph}:${tensor}`;

// Of many numbers, too many to be arguments of one call; 0 of none.
export const largest = (values) => values.reduce((most, value) => Math.max(most, value), 0);

// ---- Documents ----------------------------------------------------------------------------------

export function readPlan(document) {
  const plan = {
    path: document.model ?? document.problem ?? "",
    isModel: document.model !== undefined,
    planner: document.planner,
    optimal: document.optimal === true,
    peakBytes: document.peak_bytes,
    lowerBound: document.lower_bound_bytes,
    sumBytes: document.sum_bytes,
    variableBytes: document.variable_bytes ?? 0,
    cost: document.cost ?? null,
    steps: Math.max(1, document.steps ?? 1 + largest(document.buffers.map((b) => b.last))),
    dynamic: document.dynamic ?? [],
    advice: document.advice ?? null,
    running: document.running?.possible ? document.running : null,
    notRun: document.running?.possible === false ? document.running.why : null,
    tflm: document.forecast?.runtime === "tflm" ? document.forecast : null,
    runs: document.streaming?.runs ?? [], // of steps that are executed row by row: { first, last }
    operators: [],
    buffers: [],
    regions: [],
  };
  plan.buffers = document.buffers.map((buffer, index) => ({
    index,
    name: String(buffer.name),
    kind: CLASSES.includes(buffer.kind) ? buffer.kind : "activation",
    hasKind: buffer.kind !== null && buffer.kind !== undefined,
    size: buffer.size,
    bytes: buffer.size, // before rounding, where a tensor says so
    first: buffer.first,
    last: buffer.last,
    offset: buffer.offset,
    region: buffer.region,
    subgraph: buffer.subgraph,
    tensor: buffer.tensor,
    type: null,
    shape: null,
    brief: "", // the name for narrow places, another for each buffer
    short: "", // for very narrow ones
    maker: null,
    readers: [],
    ring: null, // { rows, of, rowBytes }: only so many rows of the tensor are kept at a time
  }));
  nameBriefly(plan.buffers);
  addOperators(plan, document);
  const names = document.regions?.map((region) => region.name) ?? ["arena"];
  plan.regions = names.map((name) => readRegion(plan, name, document));
  return plan;
}

function nameBriefly(buffers) {
  const names = buffers.map((buffer) => buffer.name);
  const mark = (i) => ` #${buffers[i].tensor ?? i}`;
  const [brief, short] = [brieflyAll(names, 2, mark), brieflyAll(names, 1, mark)];
  buffers.forEach((buffer, i) => Object.assign(buffer, { brief: brief[i], short: short[i] }));
}

// Links operators with buffers, both ways. Operators of called subgraphs have no step of their own.
function addOperators(plan, document) {
  const byTensor = new Map();
  for (const buffer of plan.buffers) {
    if (buffer.tensor !== null && buffer.tensor !== undefined) {
      byTensor.set(key(buffer.subgraph, buffer.tensor), buffer);
    }
  }
  for (const tensor of document.tensors ?? []) {
    const buffer = byTensor.get(key(tensor.subgraph, tensor.tensor));
    if (!buffer) continue;
    buffer.bytes = tensor.bytes ?? buffer.size;
    buffer.type = tensor.type;
    buffer.shape = tensor.shape;
  }
  for (const ring of plan.runs.flatMap((run) => run.rings)) {
    const buffer = byTensor.get(key(0, ring.tensor));
    if (buffer && ring.rows > 0 && ring.rows < ring.of_rows) {
      buffer.ring = { rows: ring.rows, of: ring.of_rows, rowBytes: ring.row_bytes };
    }
  }
  for (const entry of document.operators ?? []) {
    const find = (tensor) => byTensor.get(key(entry.subgraph, tensor));
    const operator = {
      index: entry.operator,
      subgraph: entry.subgraph,
      step: entry.subgraph === 0 ? entry.step ?? entry.operator : null,
      name: String(entry.name),
      live: entry.live_bytes,
      foldable: entry.foldable === true,
      inputs: [...new Set(entry.inputs.map(find).filter(Boolean))],
      outputs: entry.outputs.map(find).filter(Boolean),
      constants: entry.inputs.filter((tensor) => tensor >= 0 && !find(tensor)).length,
    };
    for (const buffer of operator.inputs) buffer.readers.push(operator);
    for (const buffer of operator.outputs) buffer.maker = operator;
    plan.operators.push(operator);
  }
}

// ---- Regions ------------------------------------------------------------------------------------

function readRegion(plan, name, document) {
  const given = document.regions?.find((entry) => entry.name === name);
  const buffers = plan.buffers.filter((b) => b.region === name && b.offset !== null && b.size > 0);
  const height = buffers.reduce((peak, b) => Math.max(peak, b.offset + b.size), 0);
  const usage = new Map(CLASSES.map((kind) => [kind, new Float64Array(plan.steps + 1)]));
  for (const buffer of buffers) {
    const change = usage.get(buffer.kind);
    change[buffer.first] += buffer.size;
    change[buffer.last + 1] -= buffer.size;
  }
  const load = new Float64Array(plan.steps);
  for (const [kind, change] of usage) {
    for (let step = 1; step < plan.steps; step++) change[step] += change[step - 1];
    const values = change.subarray(0, plan.steps);
    usage.set(kind, values);
    for (let step = 0; step < plan.steps; step++) load[step] += values[step];
  }
  const region = { name, buffers, height, usage, load, capacity: given?.capacity_bytes ?? null };
  region.shared = findShared(buffers);
  region.peak = readPeak(plan, name, document);
  return region;
}

// What the document says of the peak; of a region that holds nothing, that there is none.
function readPeak(plan, name, document) {
  const peak = document.peaks?.find((entry) => entry.region === name);
  const kept = new Map();
  for (const entry of peak?.live ?? []) {
    kept.set(plan.buffers[entry.buffer], { why: entry.kept_by, steps: entry.kept_steps, reader: entry.last_reader });
  }
  return {
    step: peak?.step ?? 0,
    live: [...kept.keys()],
    kept,
    liveBytes: peak?.live_bytes ?? 0,
    alignment: peak?.alignment_bytes ?? 0,
    fragmentation: peak?.fragmentation_bytes ?? 0,
    overlap: peak?.overlap_bytes ?? 0,
    classes: peak?.classes ?? {},
  };
}

// What the memory is made of, from the classes at the peak to all that a device needs: lines of
// { name, bytes }, and { sum } where what stands above adds up. The last two groups only if known.
export function account(plan, region) {
  const { peak } = region;
  const lines = CLASSES.filter((kind) => peak.classes[kind] > 0).map((kind) => ({ name: kind, kind, bytes: peak.classes[kind] }));
  if (peak.alignment > 0) lines.push({ name: "alignment padding", bytes: peak.alignment });
  if (peak.fragmentation > 0) lines.push({ name: "gaps between them", bytes: peak.fragmentation });
  if (peak.overlap > 0) lines.push({ name: "shared by overlaps", bytes: -peak.overlap });
  lines.push({ name: "peak of the plan", bytes: region.height, sum: true });
  if (!plan.running || plan.regions.length > 1) return lines;
  const { beside_peak_bytes: beside, table_bytes: tables, interpreter_bytes: interpreter, total_bytes: total } = plan.running;
  if (beside !== 0) lines.push({ name: beside < 0 ? "shared in place, less scratch of Berth's kernels" : "scratch of Berth's kernels, less what they share in place", bytes: beside });
  if (tables > 0) lines.push({ name: "operators' tables and state", bytes: tables });
  lines.push({ name: "runtime metadata", bytes: total - interpreter - tables - beside - region.height });
  lines.push({ name: "the interpreter", bytes: interpreter });
  lines.push({ name: "RAM you need on the device", bytes: total, sum: true });
  return lines;
}

// Where two buffers have the same bytes at the same time (one written over the other, or a view of
// it): { first, last, low, high }, by a sweep over time.
function findShared(buffers) {
  const shared = [];
  let active = [];
  for (const b of [...buffers].sort((x, y) => x.first - y.first)) {
    active = active.filter((a) => a.last >= b.first);
    for (const a of active) {
      const low = Math.max(a.offset, b.offset);
      const high = Math.min(a.offset + a.size, b.offset + b.size);
      if (low < high) shared.push({ first: b.first, last: Math.min(a.last, b.last), low, high });
    }
    active.push(b);
  }
  return shared;
}

export const liveAt = (region, step) =>
  region.buffers.filter((b) => b.first <= step && step <= b.last).sort((a, b) => b.size - a.size || a.index - b.index);

export const operatorAt = (plan, step) => plan.operators.find((op) => op.step === step) ?? null;

// Where the n-th largest buffer of the peak is named by a letter: the first twelve.
export const letterOf = (region, buffer) => {
  const at = region.peak.live.indexOf(buffer);
  return at >= 0 && at < 12 ? String.fromCharCode(65 + at) : "";
};

// ---- Why a buffer lives at the peak -------------------------------------------------------------

// Its part in a step: "writes", "reads", or "keeps" for one that waits for a later step.
export function roleIn(buffer, operator) {
  if (operator?.outputs.includes(buffer)) return "writes";
  if (operator?.inputs.includes(buffer)) return "reads";
  return "keeps";
}

export const lastReader = (buffer) =>
  buffer.readers.reduce((last, op) => (last === null || op.index > last.index ? op : last), null);

// ---- What would change the peak -----------------------------------------------------------------

// The largest load and its step if each buffer had the size that `sizeOf` says, and lived as long as
// now: no plan could need less than that.
export function loadIf(region, sizeOf) {
  const load = Float64Array.from(region.load);
  for (const buffer of region.buffers) {
    const change = sizeOf(buffer) - buffer.size;
    if (change === 0) continue;
    for (let step = buffer.first; step <= buffer.last && step < load.length; step++) load[step] += change;
  }
  let step = 0;
  for (let at = 1; at < load.length; at++) if (load[at] > load[step]) step = at;
  return { bytes: load[step] ?? 0, step };
}

// ---- Two plans ----------------------------------------------------------------------------------

// What became of each buffer: { before, after } with null where there is none, paired by name and
// order of appearance, since names may repeat.
export function pairBuffers(before, after) {
  const waiting = new Map();
  for (const buffer of before.buffers) {
    const queue = waiting.get(buffer.name) ?? [];
    queue.push(buffer);
    waiting.set(buffer.name, queue);
  }
  const pairs = after.buffers.map((buffer) => ({ before: waiting.get(buffer.name)?.shift() ?? null, after: buffer }));
  for (const queue of waiting.values()) for (const buffer of queue) pairs.push({ before: buffer, after: null });
  return pairs;
}
