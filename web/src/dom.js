// Elements in one line each. Text from a model only ever becomes a text node.

export const byId = (id) => document.getElementById(id);

// make("td", { className: "number" }, "12", another)
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

export function swatch(colour) {
  const element = make("span", { className: "swatch", "aria-hidden": "true" });
  element.style.background = colour;
  return element;
}

// A name as an element that may break after its separators, in full as a hint if it is shortened.
export function named(text, full = text) {
  const element = make("bdi", full === text ? {} : { title: full });
  for (const part of text.split(/(?<=[/_;:.-])/)) element.append(part, document.createElement("wbr"));
  return element;
}
