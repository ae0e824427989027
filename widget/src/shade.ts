// Light or dark, as the site is.

const ATTRIBUTES = ["data-theme", "data-md-color-scheme", "data-bs-theme", "class", "lang"];
const dusk = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");
const roots = (): HTMLElement[] => [document.documentElement, document.body];

/** What is wanted, else what the site's attributes say, else what the system prefers. */
export function shadeOf(wanted: string | undefined): "dark" | "light" {
  const told = wanted ?? roots().flatMap((root) => ATTRIBUTES.map((name) => root.getAttribute(name))).join(" ");
  return /\b(dark|slate)\b/.test(told) || (!/\b(light|default)\b/.test(told) && dusk().matches) ? "dark" : "light";
}

/** Call whenever the site's shade or language may have changed, until the signal ends it. */
export function watchShade(change: () => void, signal: AbortSignal): void {
  const watcher = new MutationObserver(change);
  for (const root of roots()) watcher.observe(root, { attributeFilter: ATTRIBUTES });
  dusk().addEventListener("change", change, { signal });
  signal.addEventListener("abort", () => watcher.disconnect());
}
