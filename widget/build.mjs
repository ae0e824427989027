// Builds the widget and the page into the Python package beside it, and the npm package into dist.
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, "..", "src", "citewell", "assets");

const smallStyles = {
  name: "small-styles",
  setup(made) {
    made.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true, target: "chrome111" });
      return { contents: code.trim().replace(/(--[\w-]+:) /g, "$1").replace(/, (?=var\()/g, ","), loader: "text" };
    });
  },
};

async function bundled(entry, define, more = {}) {
  const result = await build({
    entryPoints: [join(here, "src", entry)],
    bundle: true,
    minify: true,
    format: "esm",
    target: ["chrome111", "firefox113", "safari16.4"],
    charset: "utf8",
    legalComments: "none",
    write: false,
    outdir: "out",
    plugins: [smallStyles],
    define,
    ...more,
  });
  return result.outputFiles;
}

const digest = (kind, bytes, form) => createHash(kind).update(bytes).digest(form);
const define = (panel) => ({ PACKAGED: "false", PANEL: JSON.stringify(panel) });
const NONE = { file: "", integrity: "" };

async function files() {
  const [panel] = await bundled("panel.ts", define(NONE));
  const file = `widget-panel-${digest("sha256", panel.contents, "hex").slice(0, 12)}.js`;
  const integrity = `sha384-${digest("sha384", panel.contents, "base64")}`;
  const [loader] = await bundled("loader.ts", define({ file, integrity }));
  const [page] = await bundled("page/app.ts", { PACKAGED: "true", PANEL: JSON.stringify(NONE) });
  const style = await transform(await readFile(join(here, "src/page/page.css"), "utf8"), { loader: "css", minify: true, target: "chrome111" });
  const copied = async (name) => [`page/${name}`, await readFile(join(here, "src/page", name))];
  return new Map([
    ["widget/widget.js", loader.contents],
    [`widget/${file}`, panel.contents],
    ["page/app.js", page.contents],
    ["page/style.css", Buffer.from(style.code)],
    await copied("index.html"),
    await copied("icon.svg"),
    ...(await words()),
  ]);
}

/** The other languages: each says all that English says. */
async function words() {
  const english = await readFile(join(here, "src/words.ts"), "utf8");
  const names = [...english.split("};")[0].matchAll(/^  (\w+): "/gm)].map((match) => match[1]);
  const folder = join(here, "src/words");
  return Promise.all(
    (await readdir(folder)).sort().map(async (file) => {
      const said = JSON.parse(await readFile(join(folder, file), "utf8"));
      const wrong = names.filter((name) => !said[name]).concat(Object.keys(said).filter((name) => !names.includes(name)));
      if (wrong.length) throw new Error(`${file}: missing or unknown words: ${wrong.join(", ")}`);
      return [`widget/${file}`, Buffer.from(JSON.stringify(said))];
    }),
  );
}

/** What the committed files were built from: for a check where there is no Node. */
async function sources() {
  const names = (await readdir(join(here, "src"), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(here.length + 1))
    .sort();
  const hash = createHash("sha256");
  for (const name of [...names, "build.mjs", "package.json"]) hash.update(`${name}\n`).update(await readFile(join(here, name)));
  return `${hash.digest("hex")}\n`;
}

const made = await files();
made.set("widget/sources.sha256", Buffer.from(await sources()));
for (const folder of ["widget", "page"]) {
  await rm(join(assets, folder), { recursive: true, force: true });
  await mkdir(join(assets, folder), { recursive: true });
}
for (const [name, bytes] of made) await writeFile(join(assets, name), bytes);
const packaged = await bundled("loader.ts", { PACKAGED: "true", PANEL: JSON.stringify(NONE) }, { splitting: true, chunkNames: "[name]" });
await rm(join(here, "dist"), { recursive: true, force: true });
await mkdir(join(here, "dist"), { recursive: true });
for (const { path, contents } of packaged) await writeFile(join(here, "dist", path.split("/").pop().replace(/^loader\.js$/, "widget.js")), contents);
