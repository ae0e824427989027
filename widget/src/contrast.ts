// An accent that can be read: it comes from the site, whatever it is.

type Colour = [number, number, number];

function parsed(text: string): Colour | null {
  const parts = /^rgba?\((.*)\)$/.exec(text)?.[1]?.split(/[\s,/]+/).map(Number);
  return parts && parts.length >= 3 && parts[3] !== 0 ? (parts.slice(0, 3) as Colour) : null;
}

function luminance(colour: Colour): number {
  const [r, g, b] = colour.map((part) => ((part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as Colour;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(one: Colour, other: Colour): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** Words on the accent are black or white, and the accent is used for words only where it can be read. */
export function readable(host: HTMLElement, filled: Element, plain: Element): void {
  const [accent, paper] = [filled, plain].map((part) => parsed(getComputedStyle(part).backgroundColor));
  host.style.setProperty("--cw-on", accent && contrast(accent, [255, 255, 255]) < 4.5 ? "#000" : "#fff");
  host.style.setProperty("--cw-link", accent && paper && contrast(accent, paper) >= 4.6 ? "var(--cw-accent)" : "var(--cw-ink)");
}
