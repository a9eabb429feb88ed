// The colours of the style sheet for the canvas, which cannot use CSS variables; and the theme.
import { CLASSES } from "./facts.js";

const root = document.documentElement;

export function readPalette() {
  const style = getComputedStyle(root);
  const value = (name) => style.getPropertyValue(name).trim();
  const palette = { strong: {}, pale: {}, inkOn: {} };
  for (const kind of CLASSES) {
    palette.strong[kind] = value(`--${kind}`);
    palette.pale[kind] = value(`--${kind}-pale`);
    palette.inkOn[kind] = readableOn(palette.strong[kind]);
  }
  for (const name of ["ink", "soft", "line", "plot", "card", "accent"]) palette[name] = value(`--${name}`);
  palette.paleInk = value("--pale-ink");
  return palette;
}

// Black or white, whichever has more contrast (WCAG 2's relative luminance).
function readableOn(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? "#111111" : "#ffffff";
}

// ---- Light and dark: the system's choice until somebody says otherwise ---------------------------

const dark = matchMedia("(prefers-color-scheme: dark)");
const stored = () => {
  try {
    return localStorage.getItem("berth-theme");
  } catch {
    return null; // a page opened from a file may have no storage
  }
};

export function watchTheme(button, changed) {
  let chosen = stored();
  const apply = () => {
    const theme = chosen ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    changed();
  };
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("berth-theme", chosen);
    } catch {
      // then it lasts as long as the page
    }
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
}
