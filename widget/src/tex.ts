// TeX formulas as MathML: what books use of it. What is not known is shown as it was written.

const MATH = "http://www.w3.org/1998/Math/MathML";
const GREEK =
  "alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω ell ℓ infty ∞ partial ∂ nabla ∇ emptyset ∅";
const SIGNS =
  "times × cdot ⋅ div ÷ pm ± mp ∓ leq ≤ le ≤ geq ≥ ge ≥ neq ≠ ne ≠ approx ≈ equiv ≡ sim ∼ propto ∝ in ∈ notin ∉ subset ⊂ subseteq ⊆ cup ∪ cap ∩ to → rightarrow → leftarrow ← Rightarrow ⇒ Leftarrow ⇐ Leftrightarrow ⇔ mapsto ↦ forall ∀ exists ∃ neg ¬ land ∧ lor ∨ wedge ∧ vee ∨ oplus ⊕ otimes ⊗ circ ∘ ast ∗ ldots … dots … cdots ⋯ vdots ⋮ ddots ⋱ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ mid ∣ parallel ∥ perp ⊥ angle ∠ prime ′ ll ≪ gg ≫ Vert ‖ vert | top ⊤ setminus ∖";
const LARGE = "sum ∑ prod ∏ int ∫ oint ∮ bigcup ⋃ bigcap ⋂ lim lim max max min min sup sup inf inf argmax argmax argmin argmin";
const FUNCTIONS = new Set("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln exp det dim ker gcd Pr arg atan2 tr".split(" "));
const ACCENTS = table("hat ^ bar ¯ overline ¯ vec → dot ˙ ddot ¨ tilde ~ overrightarrow → underline _");
const SPACES: Record<string, string> = { ",": ".17em", ":": ".22em", ";": ".28em", " ": ".25em", quad: "1em", qquad: "2em", "!": "0" };
const STYLES: Record<string, string> = { mathbf: "bold", boldsymbol: "bold", bm: "bold", mathbb: "double-struck", mathcal: "script", mathscr: "script", mathrm: "normal", operatorname: "normal", mathit: "" };
const FENCES: Record<string, [string, string]> = { pmatrix: ["(", ")"], bmatrix: ["[", "]"], vmatrix: ["|", "|"], Vmatrix: ["‖", "‖"], Bmatrix: ["{", "}"], cases: ["{", ""] };
const TOKEN = /\\(?:[A-Za-z]+|[\s\S])|[A-Za-z]|\d+(?:[.,]\d+)*|\s+|[\s\S]/gu;
const DEEPEST = 60;

function table(words: string): Map<string, string> {
  const list = words.split(" ");
  return new Map(list.flatMap((word, i) => (i % 2 ? [] : [[word, list[i + 1]!] as const])));
}
const letters = table(GREEK);
const signs = table(SIGNS);
const large = table(LARGE);

function node(name: string, attributes: Record<string, string> = {}, ...children: (Node | string)[]): Element {
  const made = document.createElementNS(MATH, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
const fenced = (left: string, right: string, ...inside: Element[]): Element => node("mrow", {}, node("mo", {}, left), ...inside, node("mo", {}, right));
const row = (children: Element[]): Element => (children.length === 1 ? children[0]! : node("mrow", {}, ...children));

/** Bold, double-struck and script letters have signs of their own; browsers draw no other way. */
function styled(text: string, style: string): string {
  const base = { bold: [0x1d400, 0x1d41a, 0x1d7ce], "double-struck": [0x1d538, 0x1d552, 0x1d7d8], script: [0x1d49c, 0x1d4b6, 0] }[style];
  if (!base) return text;
  const taken = table({ bold: "", script: "B ℬ E ℰ F ℱ H ℋ I ℐ L ℒ M ℳ R ℛ" }[style] ?? "C ℂ H ℍ N ℕ P ℙ Q ℚ R ℝ Z ℤ");
  return text.replace(/[A-Za-z0-9]/g, (letter) => {
    const own = taken.get(letter);
    if (own) return own;
    const [from, kind] = letter <= "9" ? [48, 2] : letter <= "Z" ? [65, 0] : [97, 1];
    return base[kind] ? String.fromCodePoint(base[kind] + letter.charCodeAt(0) - from) : letter;
  });
}

class Reader {
  readonly #tokens: string[];
  #at = 0;
  #depth = 0;
  constructor(
    source: string,
    private readonly display: boolean,
  ) {
    this.#tokens = source.match(TOKEN) ?? [];
  }

  #blank(): void {
    while (/^\s/.test(this.#tokens[this.#at] ?? "")) this.#at += 1;
  }
  #peek(): string | undefined {
    this.#blank();
    return this.#tokens[this.#at];
  }
  #next(): string | undefined {
    this.#blank();
    return this.#tokens[this.#at++];
  }

  until(...ends: string[]): Element[] {
    const out: Element[] = [];
    if ((this.#depth += 1) > DEEPEST) throw new Error("too deep");
    for (let token = this.#peek(); token !== undefined && !ends.includes(token); token = this.#peek()) out.push(this.#scripted());
    this.#depth -= 1;
    return out;
  }

  #scripted(): Element {
    const opening = this.#peek()!;
    const base = this.#atom();
    let below: Element | null = null;
    let above: Element | null = null;
    for (let token = this.#peek(); token === "^" || token === "_" || token === "'" || token === "\\limits"; token = this.#peek()) {
      this.#next();
      if (token === "_") below = this.#atom();
      else if (token === "^") above = this.#atom();
      else if (token === "'") above = node("mo", {}, "′");
    }
    const stacked = (this.display && large.has(opening.slice(1)) && !opening.includes("int"));
    if (below && above) return node(stacked ? "munderover" : "msubsup", {}, base, below, above);
    if (below) return node(stacked ? "munder" : "msub", {}, base, below);
    return above ? node(stacked ? "mover" : "msup", {}, base, above) : base;
  }

  #raw(): string {
    let text = "";
    if (this.#peek() !== "{") return this.#next() ?? "";
    this.#at += 1;
    for (let level = 1; this.#at < this.#tokens.length; ) {
      const token = this.#tokens[this.#at++]!;
      if (token === "{") level += 1;
      if (token === "}" && !(level -= 1)) break;
      text += token;
    }
    return text;
  }

  #atom(): Element {
    const token = this.#next();
    if (token === undefined) return node("mrow");
    if (token === "{") {
      const inside = this.until("}");
      this.#next();
      return row(inside);
    }
    if (token.startsWith("\\")) return this.#command(token.slice(1));
    if (/^\d/.test(token)) return node("mn", {}, token);
    if (/^\p{L}/u.test(token)) return node("mi", {}, token);
    return node("mo", { ...("()[]|".includes(token) && { stretchy: "false" }) }, token === "-" ? "−" : token === "*" ? "∗" : token);
  }

  #command(name: string): Element {
    const letter = letters.get(name);
    if (letter) return node("mi", {}, letter);
    const sign = signs.get(name);
    if (sign) return node("mo", {}, sign);
    const big = large.get(name);
    if (big) return node("mo", { ...(this.display && { movablelimits: "false" }) }, big);
    if (FUNCTIONS.has(name)) return node("mi", {}, name);
    if (name in SPACES) return node("mspace", { width: SPACES[name]! });
    const accent = ACCENTS.get(name);
    if (accent) {
      const under = name.startsWith("under");
      return node(under ? "munder" : "mover", { [under ? "accentunder" : "accent"]: "true" }, this.#atom(), node("mo", { stretchy: String(name.length > 5) }, accent));
    }
    if (name in STYLES) return node("mi", { ...(STYLES[name] && { mathvariant: "normal" }) }, styled(this.#plain(), STYLES[name]!));
    if (/^[dt]?frac$/.test(name)) return node("mfrac", {}, this.#atom(), this.#atom());
    if (name === "binom") return fenced("(", ")", node("mfrac", { linethickness: "0" }, this.#atom(), this.#atom()));
    if (name === "sqrt") return this.#root();
    if (/^(?:text|mbox)/.test(name)) return node("mtext", {}, this.#raw());
    if (name === "left") return this.#fenced();
    if (name === "begin") return this.#grid(this.#raw().replace("*", ""));
    if (name === "label") this.#raw();
    if (/^(?:label|displaystyle|(?:no)?limits|[bB]ig[lr]?)$/.test(name)) return node("mrow");
    return /^[A-Za-z]/.test(name) ? node("mtext", {}, `\\${name}`) : node("mo", {}, name === "|" ? "‖" : name);
  }

  #plain(): string {
    const text = this.#raw().trim();
    return text.replace(/\\([A-Za-z]+)/g, (whole, name: string) => letters.get(name) ?? signs.get(name) ?? whole);
  }

  #root(): Element {
    if (this.#peek() !== "[") return node("msqrt", {}, this.#atom());
    this.#next();
    const degree = row(this.until("]"));
    this.#next();
    return node("mroot", {}, this.#atom(), degree);
  }

  #fence(): string {
    const token = this.#next() ?? "";
    return token === "." ? "" : (signs.get(token.slice(1)) ?? token.replace("\\|", "‖").replace("\\", ""));
  }

  #fenced(): Element {
    const opening = this.#fence();
    const inside = this.until("\\right");
    this.#next();
    return fenced(opening, this.#fence(), ...inside);
  }

  #grid(kind: string): Element {
    if (kind === "array") this.#raw();
    const rows: Element[] = [];
    let cells: Element[] = [];
    for (;;) {
      cells.push(node("mtd", {}, row(this.until("&", "\\\\", "\\end"))));
      const token = this.#next();
      if (token === "&") continue;
      rows.push(node("mtr", {}, ...cells));
      cells = [];
      if (token !== "\\\\") break;
    }
    this.#raw();
    const made = node("mtable", { ...((kind === "cases" || kind.startsWith("align")) && { class: kind === "cases" ? "left" : "aligned" }) }, ...rows);
    const fences = FENCES[kind];
    return fences ? fenced(...fences, made) : made;
  }
}

/** The formula as MathML; null when it is not well formed. */
export function mathOf(source: string, display: boolean): Element | null {
  try {
    const reader = new Reader(source, display);
    return node("math", { ...(display && { display: "block" }) }, node("mrow", {}, ...reader.until()));
  } catch {
    return null;
  }
}
