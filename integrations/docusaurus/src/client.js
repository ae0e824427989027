// Runs in the browser: after each change of page the widget answers from that page's version and locale.
import globalData from "@generated/globalData";

const own = globalData["docusaurus-plugin-citewell"]?.default ?? {};
const versions = Object.values(globalData["docusaurus-plugin-content-docs"] ?? {}).flatMap((instance) => instance.versions ?? []);

/** Passages of other versions and languages do not answer here. A site with one of each needs no filter. */
function filters() {
  const found = {};
  // What is no page of the docs shows none: there the version that readers see first answers.
  const version = document.querySelector('meta[name="docusaurus_version"]')?.content ?? versions.find((known) => known.isLast)?.name;
  if (own.filterVersion && versions.length > 1 && version) found.version = [version];
  // A folder of sources is known by its locale, a page that was crawled by the language it names.
  const language = document.documentElement.lang.split("-")[0].toLowerCase();
  if (own.filterLocale && own.locales?.length > 1) found.language = [...new Set([own.locale, language])];
  return found;
}

export function onRouteDidUpdate() {
  // The head's tags are changed a moment after the route.
  requestAnimationFrame(() => (window.citewell ||= []).push(["configure", { filters: JSON.stringify(filters()) }]));
}
