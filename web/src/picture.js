// What the map looks like: draws the region of one or two plans on the base canvas, and what is
// selected or under the pointer on the overlay. MemoryMap (map.js) adds the gestures; its fields are
// used here: sides, plot, usage, transform, addresses, split, palette, found, selected, hovered.
import { scaleLinear } from "d3-scale";
import { CLASSES, letterOf, operatorAt } from "./facts.js";
import { bytes, grouped, printable } from "./format.js";

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
export const TOP = 26; // the peak's label
export const AXIS = 22; // steps, between map and usage
export const BOTTOM = 6;

export class MapPicture {
  x(side) {
    const scale = scaleLinear([0, side.plan.steps], [this.plot.left, this.plot.right]);
    return this.transform.rescaleX(scale);
  }

  y() {
    return this.addresses.rescaleY(scaleLinear([0, this.tallest], [this.plot.bottom, this.plot.top]));
  }

  splitAt() {
    return this.plot.left + (this.plot.right - this.plot.left) * this.split;
  }

  // The side whose picture is at x.
  sideAt(x) {
    return this.sides.length > 1 && x >= this.splitAt() ? this.sides[1] : this.sides[0];
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (this.sides.length === 0 || !this.palette || !this.plot) return;
      this.draw();
      this.drawOverlay();
    });
  }

  draw() {
    const c = this.base.getContext("2d");
    const { left, right, top, bottom } = this.plot;
    const p = this.palette;
    c.fillStyle = p.card;
    c.fillRect(0, 0, this.width, this.height);
    c.fillStyle = p.plot;
    c.fillRect(left, top, right - left, bottom - top);
    c.fillRect(left, this.usage.top, right - left, this.usage.bottom - this.usage.top);
    this.drawAddresses(c);
    for (const side of this.sides) {
      c.save();
      this.clipTo(c, side, 0);
      this.drawSide(c, side);
      c.restore();
    }
    if (this.sides.length > 1) {
      c.fillStyle = p.accent;
      c.fillRect(this.splitAt() - 1.5, 0, 3, this.height);
    }
  }

  // To the part of the canvas that belongs to a side, from `top` down.
  clipTo(c, side, top) {
    const { left, right } = this.plot;
    const cut = this.sides.length > 1 ? this.splitAt() : right + 2;
    const [from, to] = side === this.sides[0] ? [left - 2, Math.min(cut, right + 2)] : [cut, right + 2];
    c.beginPath();
    c.rect(from, top, Math.max(0, to - from), this.height);
    c.clip();
  }

  drawAddresses(c) {
    const { left, right, top, bottom } = this.plot;
    const y = this.y();
    const [low, high] = [Math.max(0, y.invert(bottom)), y.invert(top)];
    let distance = 1;
    const wanted = Math.max(2, Math.floor((bottom - top) / 52));
    while (distance < (high - low) / wanted) distance *= 2;
    c.font = `12px ${FONT}`;
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.strokeStyle = this.palette.line;
    c.lineWidth = 1;
    const peakAt = y(this.tallest);
    for (let at = Math.ceil(low / distance) * distance; at <= high; at += distance) {
      const line = Math.round(y(at)) + 0.5;
      c.beginPath();
      c.moveTo(left, line);
      c.lineTo(right, line);
      c.stroke();
      c.fillStyle = this.palette.soft;
      if (Math.abs(line - peakAt) > 14) c.fillText(tickText(at, distance), left - 6, Math.min(line, bottom - 5));
    }
    if (peakAt >= top - 1 && peakAt <= bottom) {
      c.fillStyle = this.palette.ink;
      c.font = `600 12px ${FONT}`;
      c.fillText(bytes(this.tallest), left - 6, peakAt);
    }
    c.font = `12px ${FONT}`;
    c.fillStyle = this.palette.soft;
    c.fillText("usage", left - 6, (this.usage.top + this.usage.bottom) / 2);
    c.fillText("step", left - 6, bottom + AXIS / 2);
  }

  drawSide(c, side) {
    const x = this.x(side);
    const y = this.y();
    const { left, right, top, bottom } = this.plot;
    c.save();
    c.beginPath();
    c.rect(left, top - 1, right - left, bottom - top + 2);
    c.clip();
    const seen = side.region.buffers.filter(
      (b) => x(b.last + 1) > left && x(b.first) < right && y(b.offset) > top && y(b.offset + b.size) < bottom,
    );
    const live = new Set(side.region.peak.live);
    const order = [...seen.filter((b) => !live.has(b)), ...seen.filter((b) => live.has(b))];
    this.drawRuns(c, side, x);
    for (const buffer of order) this.drawBuffer(c, buffer, live.has(buffer), x, y);
    for (const area of side.region.shared) this.drawShared(c, area, x, y);
    if (this.showLoad) this.drawLoad(c, side, x, y);
    this.drawPeakBand(c, side, x);
    this.labels = []; // boxes: where buffers overlap, the first label stays alone
    for (const buffer of order.reverse()) this.drawLabel(c, side, buffer, live.has(buffer), x, y);
    c.restore();
    this.drawSteps(c, side, x);
    this.drawUsage(c, side, x);
    this.drawPeakLabel(c, side, x);
  }

  drawBuffer(c, buffer, strong, x, y) {
    const [x0, x1] = [x(buffer.first), x(buffer.last + 1)];
    const [y0, y1] = [y(buffer.offset + buffer.size), y(buffer.offset)];
    const gap = Math.min(x1 - x0, y1 - y0) > 4 ? 0.5 : 0;
    c.globalAlpha = this.found === null || this.found.has(buffer) ? 1 : 0.2;
    c.fillStyle = this.fill(buffer, strong);
    c.fillRect(x0 + gap, y0 + gap, Math.max(0.7, x1 - x0 - 2 * gap), Math.max(0.7, y1 - y0 - 2 * gap));
    if (strong && gap > 0) {
      c.strokeStyle = this.palette.ink;
      c.lineWidth = 1;
      c.strokeRect(x0 + 0.5, y0 + 0.5, x1 - x0 - 1, y1 - y0 - 1);
    }
    if (buffer.ring) this.drawRing(c, buffer, strong, [x0, y0, x1 - x0, y1 - y0]);
    c.globalAlpha = 1;
  }

  // Behind what is executed row by row.
  drawRuns(c, side, x) {
    const { top, bottom } = this.plot;
    c.fillStyle = this.palette.accent;
    c.globalAlpha = 0.12;
    for (const run of side.plan.runs) c.fillRect(x(run.first), top, x(run.last + 1) - x(run.first), bottom - top);
    c.globalAlpha = 1;
  }

  // A ring's rows, as lines across it where there is room for them.
  drawRing(c, buffer, strong, [x0, y0, width, height]) {
    const each = height / buffer.ring.rows;
    if (each < 3) return;
    c.strokeStyle = strong ? this.palette.inkOn[buffer.kind] : this.palette.paleInk;
    c.globalAlpha *= 0.35;
    c.lineWidth = 1;
    c.beginPath();
    for (let row = 1; row < buffer.ring.rows; row++) {
      c.moveTo(x0, y0 + row * each);
      c.lineTo(x0 + width, y0 + row * each);
    }
    c.stroke();
  }

  // Stripes where two buffers are at once.
  drawShared(c, { first, last, low, high }, x, y) {
    const [x0, x1] = [Math.max(this.plot.left, x(first)), Math.min(this.plot.right, x(last + 1))];
    const [y0, y1] = [Math.max(this.plot.top, y(high)), Math.min(this.plot.bottom, y(low))];
    if (x1 <= x0 || y1 <= y0) return;
    c.save();
    c.beginPath();
    c.rect(x0, y0, x1 - x0, y1 - y0);
    c.clip();
    c.strokeStyle = this.palette.card;
    c.lineWidth = 2;
    c.beginPath();
    for (let at = x0 - (y1 - y0); at < x1; at += 8) {
      c.moveTo(at, y1);
      c.lineTo(at + (y1 - y0), y0);
    }
    c.stroke();
    c.restore();
  }

  // What a search finds has full colour wherever it lives.
  fill(buffer, strong) {
    const bright = this.found === null ? strong : this.found.has(buffer);
    return this.palette[bright ? "strong" : "pale"][buffer.kind];
  }

  drawLabel(c, side, buffer, strong, x, y) {
    const { left, right, top, bottom } = this.plot;
    const [x0, x1] = [Math.max(left, x(buffer.first)), Math.min(right, x(buffer.last + 1))];
    const [y0, y1] = [Math.max(top, y(buffer.offset + buffer.size)), Math.min(bottom, y(buffer.offset))];
    const [width, height] = [x1 - x0, y1 - y0];
    if (Math.min(width, height) < 14 || (this.found !== null && !this.found.has(buffer))) return;
    const letter = letterOf(side.region, buffer);
    const name = printable(buffer.name);
    c.font = `12px ${FONT}`;
    const widthOf = (text) => (text === "" ? 0 : c.measureText(text).width);
    const extra = letter === "" ? 0 : 16;
    const upright = height > width && widthOf(name) + extra + 8 > width;
    const room = (upright ? height : width) - 8 - extra;
    let text = "";
    for (const form of [name, buffer.brief, buffer.short]) {
      if (text === "" && widthOf(form) <= room) text = form;
    }
    if (text === "" && room > 60) text = shorten(buffer.short, room, widthOf);
    if (text === "" && letter === "") return;
    const long = widthOf(text) + extra;
    if (!this.claim((x0 + x1) / 2, (y0 + y1) / 2, upright ? 14 : long, upright ? long : 14)) return;
    c.save();
    c.translate((x0 + x1) / 2, (y0 + y1) / 2);
    if (upright) c.rotate(-Math.PI / 2);
    c.textBaseline = "middle";
    c.lineJoin = "round";
    c.lineWidth = 3;
    c.strokeStyle = this.fill(buffer, strong);
    const bright = this.found === null ? strong : this.found.has(buffer);
    c.fillStyle = bright ? this.palette.inkOn[buffer.kind] : this.palette.paleInk;
    const start = -(widthOf(text) + (letter === "" ? 0 : text === "" ? 8 : extra)) / 2;
    c.textAlign = "left";
    if (text !== "") {
      c.strokeText(text, start + extra, 1);
      c.fillText(text, start + extra, 1);
    }
    if (letter !== "") {
      c.font = `700 12px ${FONT}`;
      c.strokeText(letter, start, 1);
      c.fillText(letter, start, 1);
    }
    c.restore();
  }

  // Takes the room of a label around a point, unless another has some of it already.
  claim(x, y, width, height) {
    const meets = (box) => Math.abs(box.x - x) * 2 < box.width + width && Math.abs(box.y - y) * 2 < box.height + height;
    if (this.labels.some(meets)) return false;
    this.labels.push({ x, y, width, height });
    return true;
  }

  drawLoad(c, side, x, y) {
    const { load } = side.region;
    c.strokeStyle = this.palette.ink;
    c.lineWidth = 1.5;
    if (x(1) - x(0) >= 1) c.setLineDash([5, 3]); // dashes of a dense line would be noise, and slow
    this.traceSteps(c, load, x, (value) => y(Math.min(value, this.tallest)));
    c.stroke();
    c.setLineDash([]);
  }

  // A staircase through values[step], only as far as it is in view. Where several steps fall on one
  // pixel, they share a stair as high as the largest of them. Continues a path if `back`, to the left.
  traceSteps(c, values, x, yOf, back = false) {
    const stairs = this.stairs(values, x);
    if (back) stairs.reverse();
    else c.beginPath();
    stairs.forEach(({ from, to, value }, i) => {
      const y = yOf(value);
      if (i === 0 && !back) c.moveTo(from, y);
      else c.lineTo(back ? to : from, y);
      c.lineTo(back ? from : to, y);
    });
  }

  stairs(values, x) {
    const first = Math.max(0, Math.floor(x.invert(this.plot.left)));
    const last = Math.min(values.length - 1, Math.ceil(x.invert(this.plot.right)));
    const each = Math.max(1, Math.floor(1 / (x(1) - x(0))));
    const stairs = [];
    for (let step = first; step <= last; step += each) {
      const end = Math.min(step + each, last + 1);
      let value = values[step];
      for (let at = step + 1; at < end; at++) value = Math.max(value, values[at]);
      stairs.push({ from: x(step), to: x(end), value });
    }
    return stairs;
  }

  drawPeakBand(c, side, x) {
    const { step } = side.region.peak;
    const [x0, x1] = [x(step), x(step + 1)];
    c.strokeStyle = this.palette.ink;
    c.lineWidth = 1;
    c.setLineDash([2, 3]);
    c.beginPath();
    for (const at of x1 - x0 > 3 ? [x0, x1] : [(x0 + x1) / 2]) {
      c.moveTo(at, this.plot.top);
      c.lineTo(at, this.plot.bottom);
    }
    c.stroke();
    c.setLineDash([]);
  }

  drawPeakLabel(c, side, x) {
    const { left, right, top } = this.plot;
    const { step } = side.region.peak;
    const at = (x(step) + x(step + 1)) / 2;
    if (at < left || at > right || (this.sides.length > 1 && this.sideAt(at) !== side)) return;
    const operator = operatorAt(side.plan, step);
    const text = `peak: step ${step}${operator ? ` ${printable(operator.name)}` : ""}`;
    c.fillStyle = this.palette.ink;
    c.beginPath();
    c.moveTo(at, top - 1);
    c.lineTo(at - 5, top - 9);
    c.lineTo(at + 5, top - 9);
    c.fill();
    c.font = `600 12px ${FONT}`;
    c.textBaseline = "alphabetic";
    // Beside the split, each side's label stays on its own side.
    let [low, high] = [left, right];
    if (this.sides.length > 1) {
      if (side === this.sides[0]) high = Math.max(left + 60, this.splitAt() - 6);
      else low = Math.min(right - 60, this.splitAt() + 6);
    }
    const half = c.measureText(text).width / 2;
    c.textAlign = "center";
    c.fillText(text, Math.max(low + half, Math.min(high - half, at)), top - 12);
  }

  drawSteps(c, side, x) {
    const { left, right, bottom } = this.plot;
    const each = x(1) - x(0);
    let distance = 1;
    for (let factor = 0; distance * each < 34; factor++) distance *= factor % 3 === 1 ? 2.5 : 2;
    distance = Math.round(distance);
    const first = Math.max(0, Math.floor(x.invert(left) / distance) * distance);
    c.font = `12px ${FONT}`;
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillStyle = this.palette.soft;
    for (let step = first; step < side.plan.steps; step += distance) {
      const at = (x(step) + x(step + 1)) / 2;
      if (at > right) break;
      if (at < left) continue;
      let text = String(step);
      if (each > 70) {
        const operator = operatorAt(side.plan, step);
        const named = operator ? `${step} ${printable(operator.name)}` : text;
        if (c.measureText(named).width < each - 8) text = named;
      }
      c.fillText(text, Math.max(at, left + c.measureText(text).width / 2), bottom + AXIS / 2 + 1);
    }
  }

  drawUsage(c, side, x) {
    const { left, right } = this.plot;
    const { top, bottom } = this.usage;
    const y = scaleLinear([0, this.fullest], [bottom, top + 3]);
    c.save();
    c.beginPath();
    c.rect(left, top, right - left, bottom - top);
    c.clip();
    const below = new Float64Array(side.plan.steps);
    // Variables and workspace first: what is always there makes the ground the rest stands on.
    for (const kind of [...CLASSES].sort((a, b) => GROUND.indexOf(a) - GROUND.indexOf(b))) {
      const values = side.region.usage.get(kind);
      if (!values.some((value) => value > 0)) continue;
      const above = below.map((value, step) => value + values[step]);
      this.traceSteps(c, above, x, y);
      this.traceSteps(c, below, x, y, true);
      c.closePath();
      c.fillStyle = this.palette.strong[kind];
      c.fill();
      below.set(above);
    }
    const { step } = side.region.peak;
    c.fillStyle = this.palette.ink;
    c.globalAlpha = 0.25;
    c.fillRect(x(step), top, Math.max(1, x(step + 1) - x(step)), bottom - top);
    c.globalAlpha = 1;
    c.restore();
  }

  drawOverlay() {
    const c = this.overlay.getContext("2d");
    c.clearRect(0, 0, this.width, this.height);
    const { buffer, step, side: selectedSide } = this.selected;
    for (const side of this.sides) {
      const x = this.x(side);
      c.save();
      this.clipTo(c, side, this.plot.top - 2);
      if (this.hovered?.side === side) this.band(c, x, this.hovered.step, 0.1);
      if (!selectedSide || selectedSide === side) {
        if (step !== null) this.band(c, x, step, 0.2);
        if (buffer && side.region.buffers.includes(buffer)) {
          this.outline(c, x, buffer, 3);
          this.drawLife(c, x, buffer, this.plot.bottom + 1);
        }
      }
      if (this.hovered?.side === side && this.hovered.buffer) this.outline(c, x, this.hovered.buffer, 2);
      c.restore();
    }
  }

  band(c, x, step, alpha) {
    c.fillStyle = this.palette.ink;
    c.globalAlpha = alpha;
    c.fillRect(x(step), this.plot.top, Math.max(1, x(step + 1) - x(step)), this.height - this.plot.top);
    c.globalAlpha = 1;
  }

  outline(c, x, buffer, width) {
    const y = this.y();
    const [x0, x1] = [x(buffer.first), x(buffer.last + 1)];
    const [y0, y1] = [y(buffer.offset + buffer.size), y(buffer.offset)];
    for (const [colour, lineWidth] of [[this.palette.card, width + 3], [this.palette.ink, width]]) {
      c.strokeStyle = colour;
      c.lineWidth = lineWidth;
      c.strokeRect(x0, y0, Math.max(2, x1 - x0), Math.max(2, y1 - y0));
    }
  }

  // On the axis: a bar over the buffer's life, and a tick at each step that writes or reads it.
  drawLife(c, x, buffer, at) {
    c.fillStyle = this.palette.accent;
    c.fillRect(x(buffer.first), at, x(buffer.last + 1) - x(buffer.first), 3);
    const steps = [buffer.maker, ...buffer.readers].map((op) => op?.step ?? null).filter((step) => step !== null);
    for (const step of steps) {
      const middle = (x(step) + x(step + 1)) / 2;
      c.beginPath();
      c.arc(middle, at + 1.5, 4, 0, 2 * Math.PI);
      c.fill();
    }
  }
}

// An address in the largest unit in which ticks this far apart, a power of two, need three digits at
// most, with all that they need: no two are alike.
function tickText(at, distance) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let unit = 0;
  while (unit < units.length - 1 && at >= 1024 ** (unit + 1) && distance * 8 >= 1024 ** (unit + 1)) unit++;
  const scale = 1024 ** unit;
  const digits = Math.max(0, Math.ceil(Math.log2(scale / distance)));
  return digits === 0 ? `${grouped(at / scale)} ${units[unit]}` : `${(at / scale).toFixed(digits)} ${units[unit]}`;
}

// From the ground up.
const GROUND = ["variable", "workspace", "reserved", "input", "activation", "scratch", "output"];

// The beginning and the end of a text that has no room for its middle.
function shorten(text, room, widthOf) {
  for (let keep = Math.floor(room / 7); keep >= 4; keep--) {
    const short = `${text.slice(0, Math.ceil(keep / 2))}…${text.slice(text.length - Math.floor(keep / 2))}`;
    if (widthOf(short) <= room) return short;
  }
  return "";
}
