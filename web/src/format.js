// Numbers and names as people read them; the same forms as the program's (src/host/text.c).

export const grouped = (number) => String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ",");

export function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let unit = 0;
  let value = number;
  while (Math.abs(value) >= (unit > 0 ? 1023.95 : 1024) && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return unit === 0 ? `${Math.round(value)} B` : `${value.toFixed(1)} ${units[unit]}`;
}

export const percent = (part, whole) => (whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : "–");

export const plural = (count, one, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;

// Control characters, and marks that would turn the direction of what follows, cannot be seen.
// eslint-disable-next-line no-control-regex
const unseen = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]/g;

export const printable = (name) => (name === "" ? "(no name)" : name.replace(unseen, "\ufffd"));

// "model/block_1/conv;model/block_1/bn" for a narrow place: the last `parts` parts of its path.
export function tail(name, parts) {
  const short = name.split(";").pop().split("/").filter(Boolean).slice(-parts).join("/");
  return short === "" ? name : short;
}

export const fileName = (path) => printable(path.split("/").filter(Boolean).pop() ?? path);

// A text without its middle, if it has more than `most` characters.
export const ends = (text, most) =>
  text.length > most ? `${text.slice(0, Math.ceil(most / 2))}…${text.slice(1 - Math.floor(most / 2))}` : text;

// A name for the middle of a sentence.
export const briefly = (name) => ends(printable(tail(name, 2)), 40);

// Names of several things for narrow places, of two parts of their paths or of one. Different names
// stay different: where "BiasAdd/resource" would be said of many, it is "conv_3/…/resource", or
// "conv_3", with the part that tells them apart. Where none does, `mark(i)` follows.
export function brieflyAll(names, parts, mark) {
  const brief = names.map((name) => ends(printable(tail(name, parts)), 40));
  const groups = new Map();
  brief.forEach((text, i) => {
    if (!groups.has(text)) groups.set(text, []);
    groups.get(text).push(i);
  });
  for (const group of groups.values()) {
    if (group.length < 2) continue;
    const form = formThatDiffers(group.map((i) => names[i]), parts);
    for (const [at, i] of group.entries()) brief[i] = form?.[at] ?? `${brief[i]}${mark(i)}`;
  }
  if (parts === 1) return brief; // where there is no room for more, two of one layer may be alike
  const seen = new Set();
  return brief.map((text, i) => (seen.has(text) ? `${text}${mark(i)}` : (seen.add(text), text)));
}

function formThatDiffers(names, parts) {
  const paths = names.map((name) => name.split(";").pop().split("/").filter(Boolean));
  const deepest = paths.reduce((most, path) => Math.max(most, path.length), 0);
  for (let depth = parts + 1; depth <= deepest; depth++) {
    const of = (path) => (parts > 1 ? `${path.at(-depth) ?? ""}/…/${path.at(-1) ?? ""}` : path.at(-depth) ?? path.at(-1) ?? "");
    const forms = paths.map((path) => ends(printable(of(path)), 40));
    if (new Set(forms).size === forms.length) return forms;
  }
  return null;
}
