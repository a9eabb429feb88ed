// The answer in words: how much, which operator makes the peak, why, and what to try first. Every
// number is from the plan; nothing is said that the plan does not show.
import { lastReader, loadIf, operatorAt, roleIn } from "./facts.js";
import { bytes, percent, plural, printable } from "./format.js";

// What the kinds of advice ask for, in their order.
export const KINDS = {
  free: "Same model, same results",
  interface: "Same network, other inputs or outputs",
  network: "Another network: train or test it anew",
};

export const stepText = (plan, step) => {
  const operator = operatorAt(plan, step);
  return operator ? `step ${step}, ${printable(operator.name)}` : `step ${step}`;
};

export const operatorText = (operator) =>
  operator.subgraph > 0
    ? `operator ${operator.index} ${printable(operator.name)} of subgraph ${operator.subgraph}`
    : `step ${operator.step ?? operator.index} ${printable(operator.name)}`;

// As berth writes it into its commands: in quotes if a shell would not take it as one word.
export const shellWord = (text) =>
  /^[\w\-+=.,:/@%]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

// ["The model needs ", { strong: "54.0 KiB" }, ...]: texts, and parts that are emphasised.
export function headline(plan, region) {
  const { step } = region.peak;
  const operator = operatorAt(plan, step);
  const run = plan.runs.find(({ first, last }) => first <= step && step <= last && first < last);
  const steps = run ? `steps ${run.first} to ${run.last}, row by row` : null;
  const who = { strong: steps ?? (operator ? `${printable(operator.name)} in step ${step}` : `step ${step}`) };
  const several = plan.regions.length > 1;
  const parts = several
    ? [`This ${plan.isModel ? "model" : "plan"} uses `, { strong: `${bytes(region.height)} of ${printable(region.name)}` }]
    : [`This ${plan.isModel ? "model" : "plan"} needs `, { strong: bytes(region.height) }, plan.isModel ? " of memory for its tensors" : " of memory"];
  const variables = alwaysLive(region);
  if (variables > region.height / 2) {
    const rest = region.peak.live.reduce((sum, b) => sum + b.size, 0) - variables;
    return [...parts, ", of which ", { strong: `${bytes(variables)} are variables` }, ", kept between invokes. The rest is largest in ", who, `: ${bytes(rest)}.`];
  }
  return [...parts, plan.isModel ? ". The peak is made by " : ". The peak is in ", who, "."];
}

// All that a device needs, for the runtimes of which it is known; empty for a problem.
export function need(plan) {
  const parts = [];
  const { running, tflm } = plan;
  const dynamic = plan.dynamic.length > 0 ? ", and what is allocated at run time" : "";
  if (running) parts.push({ strong: bytes(running.total_bytes) }, ` with Berth's runtime (on ${running.pointer_bits} bits)${dynamic}`);
  if (tflm && tflm.refused_operators === 0) {
    if (parts.length > 0) parts.push("; ");
    const more = tflm.unknown_operators > 0 ? `at least, since ${plural(tflm.unknown_operators, "operator")} of it ${tflm.unknown_operators === 1 ? "is" : "are"} unknown` : "as smallest arena";
    parts.push({ strong: bytes(tflm.min_arena_bytes) }, ` with stock TensorFlow Lite Micro (${more}, on 32-bit Arm)`);
  }
  if (parts.length > 0) return ["RAM you need on the device: ", ...parts, "."];
  return plan.notRun ? [`Berth's runtime cannot run it: ${printable(plan.notRun)}.`] : [];
}

const alwaysLive = (region) =>
  region.peak.live.filter((b) => b.kind === "variable").reduce((sum, b) => sum + b.size, 0);

export function comparison(before, after) {
  const difference = after.height - before.height;
  const share = percent(Math.abs(difference), before.height);
  if (difference === 0) return ["Now ", { strong: bytes(after.height) }, ", as much as before."];
  const change = `${share} ${difference < 0 ? "less" : "more"} than before`;
  return ["From ", { strong: bytes(before.height) }, " to ", { strong: bytes(after.height) }, `: ${change}.`];
}

// Why so much is live then.
export function reason(plan, region) {
  const { peak } = region;
  const operator = operatorAt(plan, peak.step);
  if (!operator) return `${plural(peak.live.length, "buffer")} live at the same time then.`;
  const tensors = peak.live.filter((b) => b.kind !== "variable");
  const sum = (role) => tensors.filter((b) => roleIn(b, operator) === role).reduce((total, b) => total + b.size, 0);
  const parts = [];
  const [writes, reads, keeps] = ["writes", "reads", "keeps"].map(sum);
  if (reads > 0) parts.push(`${bytes(reads)} that it reads`);
  if (writes > 0) parts.push(`${bytes(writes)} that it writes`);
  if (keeps > 0) parts.push(`${bytes(keeps)} that must be kept for later`);
  if (alwaysLive(region) > 0) parts.push(`${bytes(alwaysLive(region))} of variables`);
  let text = `Live at the same time then: ${join(parts)}.`;
  if (peak.overlap > 0) text += ` They share ${bytes(peak.overlap)}.`;
  if (plan.runs.length > 0) text += ` Row by row: ${join(plan.runs.map(({ first, last }) => (first === last ? `step ${first}` : `steps ${first} to ${last}`)))}.`;
  if (plan.dynamic.length > 0) text += ` Not counted: ${plural(plan.dynamic.length, "tensor")} whose size is known only at run time.`;
  if (peak.fragmentation > 0) text += ` Another ${bytes(peak.fragmentation)} is lost to gaps between them.`;
  return text;
}

const join = (parts) =>
  parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;

// What to try, best first: lines of { title, text, options, saves }. The program has planned each line
// of its own advice; where it has none, as for a problem, what the plan shows by itself has to do.
export function advice(plan, region) {
  // Of several regions, the advice is about the first.
  const told = plan.regions.length < 2 || region === plan.regions[0] ? plan.advice ?? [] : [];
  const planned = told.filter((line) => line.saved_bytes > 0);
  if (planned.length > 0) return planned.map((line) => fromProgram(plan, line));
  const lines = [];
  const { peak } = region;
  const operator = operatorAt(plan, peak.step);
  const limit = plan.regions.length > 1 ? 0 : plan.lowerBound;
  if (limit > 0 && !plan.optimal && region.height > limit && plan.planner !== "best") {
    lines.push({
      title: "Plan it better",
      text: `planner ${plan.planner} is ${bytes(region.height - limit)} above what is proven to be needed.`,
      command: `berth plan ${shellWord(plan.path)} --planner best`,
      saves: region.height - limit,
    });
  }
  const kept = peak.live.filter((b) => roleIn(b, operator) === "keeps" && b.kind !== "variable");
  if (operator && kept.length > 0) lines.push(shortenLife(region, kept[0]));
  if (operator) lines.push(...shrink(plan, region, operator));
  return lines.filter((line) => line.saves > 0).sort((a, b) => b.saves - a.saves);
}

function fromProgram(plan, line) {
  const limit = line.limit ? `, limited by ${printable(line.limit)}` : "";
  const named = line.what.replace(/\btensor (\d+)\b/, (text, index) => {
    const buffer = plan.buffers.find((b) => b.subgraph === 0 && b.tensor === Number(index));
    return buffer ? `${text} (${buffer.brief})` : text;
  });
  return {
    title: capital(printable(named)),
    text: `leaves ${bytes(line.peak_bytes)}${limit}.`,
    kind: line.kind ?? "free",
    command: line.command ?? "",
    saves: line.saved_bytes,
    exact: true,
  };
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function shortenLife(region, buffer) {
  const reader = lastReader(buffer);
  const without = loadIf(region, (b) => (b === buffer ? 0 : b.size));
  const until =
    buffer.kind === "output"
      ? "it is an output of the model"
      : reader
        ? `${operatorText(reader)} reads it ${plural((reader.step ?? buffer.last) - region.peak.step, "step")} later`
        : "nobody reads it";
  return {
    title: `Keep ${buffer.brief} for a shorter time`,
    text: `its ${bytes(buffer.size)} wait through the peak, since ${until}.`,
    saves: region.height - without.bytes,
  };
}

// The operator's own inputs and outputs: only a change of the model makes them smaller.
function shrink(plan, region, operator) {
  const lines = [];
  const own = region.peak.live.filter((b) => roleIn(b, operator) !== "keeps");
  if (own.length === 0) return lines;
  const rest = loadIf(region, (b) => (own.includes(b) ? 0 : b.size));
  const [largest] = own;
  const shape = largest.shape?.length ? ` (${largest.shape.join("×")} ${largest.type})` : "";
  const share = own.reduce((total, b) => total + b.size, 0);
  lines.push({
    title: `Make the tensors around ${printable(operator.name)} smaller`,
    text:
      `what it reads and writes is ${percent(share, region.height)} of the peak, most of it ${largest.brief}${shape}. ` +
      `A lower input resolution, fewer channels or a larger stride before this step would do. ` +
      `Below ${bytes(rest.bytes)}, ${stepText(plan, rest.step)}, is the next limit.`,
    saves: region.height - rest.bytes,
  });
  return lines;
}

// Why a buffer of the peak is live then, and until when.
export function keptBy(plan, region, buffer) {
  const operator = operatorAt(plan, region.peak.step);
  const kept = region.peak.kept.get(buffer);
  const reader = lastReader(buffer);
  const now = operator && roleIn(buffer, operator) === "writes" ? "written now, " : "";
  const waits = `${plural(kept?.steps ?? 0, "step")}`;
  switch (kept?.why) {
    case "unread":
      return `${now}nobody reads it`;
    case "read":
      return "read now for the last time";
    case "waits":
      return `${now}kept ${waits} for ${reader ? operatorText(reader) : "later"}`;
    case "skip":
      return `${now}kept ${waits} by the skip connection into ${reader ? operatorText(reader) : "a later step"}`;
    case "output":
      return `${now}an output: kept to the end`;
    case "input":
      return "an input: kept to the end";
    case "variable":
      return "a variable: kept between invokes";
    case "call":
      return "kept while its subgraph runs";
    case "run":
      return `${now}needed while the steps of a run take turns`;
    case "scratch":
      return "scratch memory of this operator";
    case "workspace":
      return "an operator's own, always";
    default:
      return `live from step ${buffer.first} to ${buffer.last}`;
  }
}
