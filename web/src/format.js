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
