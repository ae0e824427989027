// The Citewell widget on a Docusaurus 3 site: a script tag in every page and a client module that tells it the version and
// the locale of the page that is shown. Options are checked when the site is built.
"use strict";

const path = require("node:path");

const TEXTS = ["key", "title", "base", "lang", "theme", "position", "button", "shortcut", "selection", "questions", "placeholder"];

/** What is wrong with the options, in one line; empty when nothing is. */
function wrongWith(options) {
  const known = ["id", "server", "filterVersion", "filterLocale", ...TEXTS];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown) return `"${unknown}" is no option. Known are: ${known.slice(1).join(", ")}.`;
  if (!/^https?:\/\/[^\s"'<>]+$/.test(options.server ?? "")) return `"server" is required: the address of your Citewell server, for example https://answers.example.com.`;
  const wrong = TEXTS.find((name) => options[name] !== undefined && typeof options[name] !== "string");
  if (wrong) return `"${wrong}" must be a string.`;
  const flag = ["filterVersion", "filterLocale"].find((name) => options[name] !== undefined && typeof options[name] !== "boolean");
  if (flag) return `"${flag}" must be true or false.`;
  if (options.theme && !["light", "dark"].includes(options.theme)) return `"theme" must be light or dark; leave it out to follow the site.`;
  return "";
}

function validateOptions({ options }) {
  const wrong = wrongWith(options ?? {});
  if (wrong) throw new Error(`docusaurus-plugin-citewell: ${wrong}`);
  return { id: "default", filterVersion: true, filterLocale: true, ...options };
}

function pluginCitewell(context, options) {
  return {
    name: "docusaurus-plugin-citewell",
    getClientModules: () => [path.join(__dirname, "client.js")],
    async contentLoaded({ actions }) {
      const { currentLocale: locale, locales } = context.i18n;
      actions.setGlobalData({ filterVersion: options.filterVersion, filterLocale: options.filterLocale, locale, locales });
    },
    injectHtmlTags() {
      const data = TEXTS.filter((name) => options[name]).map((name) => [`data-${name}`, options[name]]);
      const src = `${options.server.replace(/\/$/, "")}/widget.js`;
      return {
        headTags: [{ tagName: "script", attributes: { type: "module", src, async: true, crossorigin: "anonymous", ...Object.fromEntries(data) } }],
      };
    },
  };
}

module.exports = pluginCitewell;
module.exports.validateOptions = validateOptions;
