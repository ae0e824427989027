// Light colours for code: comments, strings, numbers and the words that most languages share.

import { element } from "./elements.js";

const WORDS =
  "and as async await bool boolean break case catch class const continue def default delete do elif else end except export false False final finally float fn for from func function if impl import in int interface is lambda let match mut new None not null or package pass private pub public raise return self static string struct switch this throw true True try type use using var void where while with yield";
const KNOWN = new Set(WORDS.split(" "));
const HASH = /^(?:py|sh|bash|zsh|shell|console|ya?ml|toml|ini|r|rb|ruby|perl|make|docker|conf|cmake)/i;
const PLAIN = /^(?:te?xt|plain|output|log|diff|md|markdown|mermaid)?$/i;

/** The code with spans of the classes k, s, c and n; as plain text where no language is named. */
export function coloured(code: string, language: string): (Node | string)[] {
  if (PLAIN.test(language) || code.length > 20_000) return [code];
  const comment = HASH.test(language) ? "#[^\\n]*" : /^(?:sql|lua)/i.test(language) ? "--[^\\n]*" : "//[^\\n]*|/\\*[^]*?\\*/|<!--[^]*?-->";
  const pattern = new RegExp(`(${comment})|("""[^]*?"""|"(?:\\\\.|[^"\\\\\\n])*"|'(?:\\\\.|[^'\\\\\\n])*'|\`(?:\\\\.|[^\`\\\\])*\`)|\\b(\\d[\\w.]*)\\b|\\b([A-Za-z_]+)\\b`, "g");
  const out: (Node | string)[] = [];
  let last = 0;
  for (const match of code.matchAll(pattern)) {
    const kind = match[1] ? "c" : match[2] ? "s" : match[3] ? "n" : KNOWN.has(match[4]!) ? "k" : "";
    if (!kind) continue;
    out.push(code.slice(last, match.index), element("span", { class: kind }, match[0]));
    last = match.index + match[0].length;
  }
  out.push(code.slice(last));
  return out;
}
