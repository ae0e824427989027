// Runs in the browser: after each change of page the widget answers from that page's version and locale.
import globalData from "@generated/globalData";

const own = globalData["docusaurus-plugin-citewell"]?.default ?? {};
const docs = Object.values(globalData["docusaurus-plugin-content-docs"] ?? {});
const versioned = docs.some((instance) => (instance.versions ?? []).length > 1);

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content;

/** Passages of other versions and languages do not answer here. A site with one of each needs no filter. */
function filters() {
  const found = {};
  const version = meta("docusaurus_version");
  if (own.filterVersion && versioned && version) found.version = [version];
  if (own.filterLocale && (own.locales ?? []).length > 1) found.language = [document.documentElement.lang.split("-")[0].toLowerCase()];
  return found;
}

export function onRouteDidUpdate() {
  // The head's tags are changed a moment after the route.
  requestAnimationFrame(() => (window.citewell ||= []).push(["configure", { filters: JSON.stringify(filters()) }]));
}
