// The map: time to the right, addresses up, and below it the usage of each class over time, on one
// canvas; what follows the pointer is on a second one above it. d3-zoom turns wheel, drag and touch
// into a transform. Zooming enlarges time first, addresses only once steps are wide: a long model's
// steps can be told apart while the whole height is still in view. Only what is in view is drawn,
// and hit tests go through the region's list.
import { select } from "d3-selection";
import { zoom, zoomIdentity } from "d3-zoom";
import { largest } from "./facts.js";
import { AXIS, BOTTOM, MapPicture, TOP } from "./picture.js";

const WIDE = 64; // pixels of a step from which on zooming enlarges addresses as well

export class MemoryMap extends MapPicture {
  // `on` has hover(hit, x, y), select(buffer) and selectStep(step); hits are { buffer, step } or null.
  constructor(base, overlay, on) {
    super();
    this.base = base;
    this.overlay = overlay;
    this.on = on;
    this.sides = []; // one or two of { plan, region }
    this.split = 0.5; // where the second side begins
    this.transform = zoomIdentity; // of time
    this.addresses = zoomIdentity; // its k and y
    this.found = null; // the set of buffers searched for, or null
    this.showLoad = true;
    this.selected = { buffer: null, step: null };
    this.hovered = null;
    this.waiting = false;
    this.zoom = zoom()
      .filter((event) => this.takes(event))
      .wheelDelta(wheelDelta)
      .on("zoom", (event) => this.zoomed(event));
    select(overlay).call(this.zoom).on("dblclick.zoom", null);
    overlay.addEventListener("pointermove", (event) => this.pointed(event));
    overlay.addEventListener("pointerleave", () => this.hover(null));
    overlay.addEventListener("click", (event) => this.clicked(event));
    new ResizeObserver(() => this.resize()).observe(base.parentElement);
  }

  // A plain wheel and a single finger scroll the page, unless there is something to drag about.
  takes(event) {
    if (event.type === "wheel") return event.ctrlKey || event.metaKey || event.altKey;
    if (event.type.startsWith("touch")) return event.touches.length > 1 || this.transform.k > 1;
    return event.button === 0 && !event.ctrlKey;
  }

  show(sides) {
    this.sides = sides;
    this.found = null;
    this.hovered = null;
    this.resize();
  }

  setPalette(palette) {
    this.palette = palette;
    this.redraw();
  }

  // ---- Geometry -----------------------------------------------------------------------------------

  resize() {
    const { clientWidth: width, clientHeight: height } = this.base.parentElement;
    if (width === 0 || this.sides.length === 0) return;
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    for (const canvas of [this.base, this.overlay]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.width = width;
    this.height = height;
    const usage = Math.max(60, Math.round(height * 0.2));
    this.plot = { left: width < 500 ? 66 : 72, right: width - 10, top: TOP, bottom: height - usage - AXIS - BOTTOM };
    this.usage = { top: height - usage - BOTTOM, bottom: height - BOTTOM };
    this.tallest = Math.max(1, ...this.sides.map((side) => side.region.height));
    this.fullest = Math.max(1, ...this.sides.map((side) => largest(side.region.load)));
    const { left, right, top, bottom } = this.plot;
    const corners = [[left, top], [right, bottom]];
    const most = Math.max(...this.sides.map((side) => side.plan.steps));
    this.timeFirst = Math.max(1, (WIDE * most) / (right - left));
    this.zoom
      .extent(corners)
      .translateExtent([[left, -Infinity], [right, Infinity]])
      .scaleExtent([1, 24 * this.timeFirst]);
    this.redraw();
  }

  hit(x, y) {
    const { left, right, top } = this.plot;
    if (x < left || x > right || y < top - 4 || y > this.height) return null;
    const side = this.sideAt(x);
    const step = Math.min(side.plan.steps - 1, Math.max(0, Math.floor(this.x(side).invert(x))));
    const address = this.y().invert(y);
    let buffer = null;
    if (y <= this.plot.bottom) {
      // Overlaps are possible: the smallest is the one that would be hard to reach otherwise.
      for (const b of side.region.buffers) {
        if (b.first > step || b.last < step || address < b.offset || address >= b.offset + b.size) continue;
        if (buffer === null || b.size < buffer.size) buffer = b;
      }
    }
    return { side, step, buffer };
  }

  // ---- What the user does -------------------------------------------------------------------------

  pointed(event) {
    if (event.pointerType === "touch") return;
    const box = this.overlay.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    this.hover(event.buttons ? null : this.hit(x, y), x, y);
  }

  hover(hit, x = 0, y = 0) {
    this.hovered = hit;
    this.on.hover(hit, x, y);
    this.redraw();
  }

  clicked(event) {
    const box = this.overlay.getBoundingClientRect();
    const hit = this.hit(event.clientX - box.left, event.clientY - box.top);
    if (hit?.buffer) this.on.select(hit.buffer, hit.side);
    else if (hit) this.on.selectStep(hit.step, hit.side);
  }

  zoomed({ transform, sourceEvent }) {
    this.moveAddresses(transform, sourceEvent);
    this.transform = transform;
    this.overlay.style.touchAction = transform.k > 1 ? "none" : "pan-y";
    this.on.hover(null);
    this.redraw();
  }

  // Addresses follow the same gesture at their own scale, and never leave a gap at top or bottom.
  moveAddresses(transform, sourceEvent) {
    const { top, bottom } = this.plot;
    const k = Math.max(1, transform.k / this.timeFirst);
    let { y } = this.addresses;
    if (transform.k === this.transform.k) {
      y += transform.y - this.transform.y;
    } else {
      const pointer = sourceEvent?.clientY - this.overlay.getBoundingClientRect().top;
      const anchor = Number.isFinite(pointer) ? pointer : (top + bottom) / 2;
      y = anchor - ((anchor - y) / this.addresses.k) * k;
    }
    y = Math.max(bottom - bottom * k, Math.min(top - top * k, y));
    this.addresses = zoomIdentity.translate(0, y).scale(k);
  }

  zoomBy(factor) {
    select(this.overlay).call(this.zoom.scaleBy, factor);
  }

  zoomReset() {
    select(this.overlay).call(this.zoom.transform, zoomIdentity);
  }

  // Brings a step into the middle, as wide as it can be with all addresses in view.
  zoomTo(side, step) {
    const { left, right } = this.plot;
    const k = this.timeFirst;
    const middle = left + ((right - left) * (step + 0.5)) / side.plan.steps;
    const target = zoomIdentity.translate((left + right) / 2 - middle * k, 0).scale(k);
    const fit = this.zoom.constrain()(target, this.zoom.extent()(), this.zoom.translateExtent());
    select(this.overlay).call(this.zoom.transform, fit);
  }

  // Makes sure that a buffer chosen elsewhere can be seen.
  reveal(side, buffer) {
    const x = this.x(side);
    const y = this.y();
    const { left, right, top, bottom } = this.plot;
    const [x0, x1] = [x(buffer.first), x(buffer.last + 1)];
    const [y0, y1] = [y(buffer.offset + buffer.size), y(buffer.offset)];
    if (x1 > left && x0 < right && y1 > top && y0 < bottom) return;
    const k = this.transform.k;
    const dx = (left + right) / 2 - (x0 + x1) / 2;
    const dy = (top + bottom) / 2 - (y0 + y1) / 2;
    select(this.overlay).call(this.zoom.translateBy, dx / k, dy / k);
  }

  choose(buffer, step) {
    this.selected = { buffer, step };
    this.redraw();
  }
}

// A pinch on a touch pad comes as many small wheel events with Ctrl, a mouse's notch as a large one.
function wheelDelta(event) {
  const unit = event.deltaMode === 1 ? 0.05 : event.deltaMode ? 1 : 0.002;
  return -event.deltaY * unit * (event.ctrlKey && Math.abs(event.deltaY) < 40 ? 10 : 1);
}
