// A chapter made from its blocks, as `/book/page` gives them: what holds a block holds its element too.

import { element } from "../elements.js";
import { codeBlock, formulaBlock, inline, table, type Manner } from "../markdown.js";

/** A block of a page; its type says which of the fields it has. */
export interface Block {
  readonly type: string;
  /** Inline Markdown; of code and formulas the source. */
  readonly text: string;
  readonly anchor?: string;
  readonly within?: readonly number[];
  readonly level?: number;
  readonly kind?: string;
  readonly marker?: string;
  readonly term?: string;
  readonly header?: readonly string[];
  readonly rows?: readonly (readonly string[])[];
  readonly language?: string;
  readonly caption?: string;
}

export function chapterOf(blocks: readonly Block[], manner: Manner): DocumentFragment {
  const chapter = document.createDocumentFragment();
  const homes: ParentNode[] = []; // where what a block holds goes
  const taken = new Set<string>();
  blocks.forEach((block, number) => {
    const holder = block.within?.at(-1);
    const parent = (holder === undefined ? null : homes[holder]) ?? chapter;
    const home = added(parent, block, blocks[number - 1], manner);
    homes.push(home);
    if (!block.anchor || taken.has(block.anchor) || !/^(?:heading|definition)$/.test(block.type)) return;
    taken.add(block.anchor);
    (block.type === "definition" ? (home as Element).previousElementSibling : (home as Element))!.id = block.anchor;
  });
  return chapter;
}

/** Puts the block in; returns the element that holds what is in it. */
function added(parent: ParentNode, block: Block, before: Block | undefined, manner: Manner): ParentNode {
  const words = () => inline(block.text.replace(/\n/g, " ").replace(/^\\(?=[#`~])/, ""), manner);
  const put = <E extends Element>(made: E): E => (parent.append(made), made);
  switch (block.type) {
    case "heading":
      return put(element(`h${Math.min(block.level ?? 2, 6)}` as "h2", {}, ...words()));
    case "list_item":
      return listFor(parent, block.marker ?? "-").appendChild(element("li", {}, ...words()));
    case "definition": {
      const list = within(parent, "DL") ?? put(element("dl"));
      list.append(element("dt", {}, ...inline(block.term ?? "", manner)));
      return list.appendChild(element("dd", {}, ...words()));
    }
    case "table":
      return put(table(block.header?.length ? block.header : null, block.rows ?? [], manner));
    case "code":
      if (block.caption && before?.type !== "caption") put(element("p", { class: "caption" }, block.caption));
      return put(codeBlock(block.text, block.language ?? "", manner));
    case "formula":
      return put(formulaBlock(block.text));
    case "admonition":
      return put(element("div", { class: `box ${block.kind}`, role: "note" }, element("p", { class: "title" }, ...words())));
    case "tab":
      return put(element("div", { class: "box tab" }, element("p", { class: "title" }, ...words())));
    default:
      return put(element("p", { class: block.type === "caption" && "caption" }, ...words()));
  }
}

/** The list that an item goes on with, or a new one. */
function listFor(parent: ParentNode, marker: string): Element {
  const number = parseInt(marker, 10);
  const open = within(parent, number >= 0 ? "OL" : "UL");
  if (open && marker !== "1.") return open;
  const list = number >= 0 ? element("ol", { start: number !== 1 && String(number) }) : element("ul");
  parent.append(list);
  return list;
}

function within(parent: ParentNode, tag: string): Element | null {
  const last = parent.lastElementChild;
  return last?.tagName === tag ? last : null;
}
