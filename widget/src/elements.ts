// Elements made from names, attributes and text. The only way into the DOM: data never becomes markup.

export type Child = Node | string;
type Attributes = Readonly<Record<string, string | null | undefined | false>>;

/** What is null, undefined or false is no attribute. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value != null && value !== false) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function button(attributes: Attributes, act: (event: MouseEvent) => void, ...children: Child[]): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, ...children);
  made.addEventListener("click", act);
  return made;
}

/** A constructed sheet: no policy of the site forbids it. */
export function dressed(root: ShadowRoot, css: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets.push(sheet);
}

const SVG = "http://www.w3.org/2000/svg";

/** A drawing of one path, 24 by 24, for those who see it. */
export function icon(path: string): SVGElement {
  const drawn = document.createElementNS(SVG, "svg");
  drawn.setAttribute("viewBox", "0 0 24 24");
  drawn.setAttribute("aria-hidden", "true");
  drawn.append(document.createElementNS(SVG, "path"));
  drawn.firstElementChild!.setAttribute("d", path);
  return drawn;
}

export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByHand(text); // no clipboard on plain HTTP, or not allowed
  }
}

function copiedByHand(text: string): boolean {
  const held = deepFocus();
  const box = element("textarea", { readonly: "" }, text);
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  held?.focus();
  return done;
}

/** What has the focus, also inside a shadow root. */
export function deepFocus(): HTMLElement | null {
  let held = document.activeElement;
  while (held?.shadowRoot?.activeElement) held = held.shadowRoot.activeElement;
  return held as HTMLElement | null;
}
