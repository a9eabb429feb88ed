// The search box: a combobox whose list shows the largest tensors with the text in their names.
import { make, named } from "./dom.js";
import { bytes, ends, printable } from "./format.js";

const SHOWN = 8;

// `on` has found(set or null) while somebody types, and choose(buffer).
export function attachSearch(input, list, buffersOf, on) {
  let results = [];
  let active = -1;

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    active = -1;
  };
  const activate = (at) => {
    active = at;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === at)));
    if (at >= 0) input.setAttribute("aria-activedescendant", `found-${at}`);
  };
  const choose = (buffer) => {
    close();
    on.choose(buffer);
  };
  const update = () => {
    const wanted = input.value.trim().toLowerCase();
    if (wanted === "") {
      results = [];
      on.found(null);
      close();
      return;
    }
    results = buffersOf().filter((b) => b.name.toLowerCase().includes(wanted)).sort((a, b) => b.size - a.size);
    const items = results.slice(0, SHOWN).map((buffer, at) =>
      make("li", { id: `found-${at}`, role: "option", className: "choice", "aria-selected": "false", onpointerdown: (event) => { event.preventDefault(); choose(buffer); } }, named(ends(printable(buffer.name), 90), printable(buffer.name)), make("span", {}, bytes(buffer.size))),
    );
    const rest = results.length - items.length;
    if (rest > 0) items.push(make("li", { className: "rest", role: "presentation" }, `and ${rest} more, all marked in the map`));
    if (results.length === 0) items.push(make("li", { className: "rest", role: "presentation" }, "No tensor has this in its name."));
    list.replaceChildren(...items);
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    activate(-1);
    on.found(new Set(results));
  };

  input.addEventListener("input", update);
  input.addEventListener("focus", () => input.value.trim() !== "" && update());
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const last = Math.min(SHOWN, results.length) - 1;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (last < 0) return;
      event.preventDefault();
      const next = active + (event.key === "ArrowDown" ? 1 : -1);
      activate(next > last ? 0 : next < 0 ? last : next);
    } else if (event.key === "Enter" && last >= 0) {
      event.preventDefault();
      choose(results[Math.max(0, active)]);
    } else if (event.key === "Escape") {
      input.value = "";
      update();
      event.stopPropagation();
    }
  });
}
