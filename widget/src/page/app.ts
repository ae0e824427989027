// The page at `/`: the book to read beside the widget that asks it.

import { CitewellWidget } from "../loader.js";
import type { Place } from "../places.js";
import { Server } from "../wire.js";
import { Book } from "./book.js";
import { KeyForm } from "./key.js";

const widget = document.querySelector<CitewellWidget>("citewell-widget")!;
const keys = new KeyForm(widget);
widget.authorize = (refused) => keys.ask(refused);

function showPane(name: string): void {
  document.body.dataset.pane = name;
  for (const button of document.querySelectorAll<HTMLElement>("[data-show]")) button.setAttribute("aria-pressed", String(button.dataset.show === name));
}

for (const button of document.querySelectorAll<HTMLElement>("[data-show]")) button.addEventListener("click", () => showPane(button.dataset.show!));
for (const link of document.querySelectorAll<HTMLAnchorElement>("[data-skip]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault(); // the address names a place in the book, not on this page
    showPane(link.dataset.skip!);
    if (link.dataset.skip === "chat") void widget.open();
    else document.getElementById("reading")!.focus();
  });
}
if (location.pathname !== "/") showPane("book");

const server = new Server(
  () => "",
  () => widget.dataset.key ?? null,
  () => widget.authorize,
);
const book = new Book(server);
document.addEventListener("citewell:navigate", (event) => {
  const place = (event as CustomEvent<Place>).detail;
  if (!book.has(place.url)) return; // the widget goes there itself
  event.preventDefault();
  showPane("book");
  void book.open(place.url, { place });
});
document.addEventListener("citewell:about", () => showPane("chat"));
await book.load();
