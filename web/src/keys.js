// The keyboard: which key does what, here for the map and for the dialog that lists them.
import { make } from "./dom.js";
import { liveAt } from "./facts.js";

const KEYS = [
  ["← →", "earlier, later"],
  ["↑ ↓", "higher, lower address"],
  ["+ −", "zoom in, out"],
  ["0", "show all"],
  ["P", "go to the peak"],
  ["/", "find a tensor"],
  ["L", "lower bound on, off"],
  ["T", "light, dark"],
  ["Esc", "choose nothing"],
  ["?", "this list"],
];

export function fillKeys(dialog) {
  const list = make("dl", {}, ...KEYS.flatMap(([key, what]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)]));
  dialog.replaceChildren(
    make("h2", { id: "keys-heading" }, "Keys"),
    list,
    make("p", { className: "lead" }, "With the mouse: drag to move, Ctrl and the wheel to zoom. By touch: two fingers."),
    make("form", { method: "dialog" }, make("button", {}, "Close")),
  );
}

// The buffer next to the selected one in the direction of an arrow key, and the step in which we are
// then: { buffer, step }. Sideways: to the step where the buffer's life ends or began, whatever is
// live there nearest in address; up and down: among those that are live in the step.
export function neighbour(region, selected, direction) {
  const steps = region.load.length;
  const from = selected.buffer;
  const at = selected.cursor ?? from?.first ?? region.peak.step;
  if (!from) return pick(region, region.peak.step, null);
  if (direction === "ArrowUp" || direction === "ArrowDown") {
    const order = liveAt(region, at).sort((a, b) => a.offset - b.offset || a.index - b.index);
    const next = order.indexOf(from) + (direction === "ArrowUp" ? 1 : -1);
    return order[next] ? { buffer: order[next], step: at } : null;
  }
  const forward = direction === "ArrowRight";
  for (let step = forward ? from.last + 1 : from.first - 1; step >= 0 && step < steps; step += forward ? 1 : -1) {
    const found = pick(region, step, from);
    if (found) return found;
  }
  return null;
}

function pick(region, step, from) {
  const live = liveAt(region, step);
  if (live.length === 0) return null;
  if (!from) return { buffer: live[0], step };
  const distance = (b) => Math.max(0, b.offset - (from.offset + from.size - 1), from.offset - (b.offset + b.size - 1));
  const buffer = live.reduce((best, b) => (distance(b) < distance(best) ? b : best));
  return { buffer, step };
}
