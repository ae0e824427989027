// Runs in the browser: after each change of page the widget answers from that page's version and locale.
import globalData from "@generated/globalData";

const own = globalData["docusaurus-plugin-citewell"]?.default ?? {};
const versions = Object.values(globalData["docusaurus-plugin-content-docs"] ?? {})
  .map((instance) => instance.versions)
  .filter((known) => known?.length > 1)
  .flat();

const within = (pathname, { path }) => `${pathname}/`.startsWith(`${path.replace(/\/$/, "")}/`);

/** Passages of other versions and languages do not answer here. A site with one of each needs no filter. */
function filters(pathname) {
  const found = {};
  // By the address: the head's tags are changed some time after the route.
  const [version] = versions.filter((known) => within(pathname, known)).sort((one, other) => other.path.length - one.path.length);
  if (own.filterVersion && version) found.version = [version.name];
  // A folder of sources is known by its locale, a page that was crawled by the language it names.
  const language = document.documentElement.lang.split("-")[0].toLowerCase();
  if (own.filterLocale && own.locales?.length > 1) found.language = own.locale === language ? [language] : [own.locale, language];
  return found;
}

export function onRouteDidUpdate({ location }) {
  (window.citewell ||= []).push(["configure", { filters: JSON.stringify(filters(location.pathname)) }]);
}
