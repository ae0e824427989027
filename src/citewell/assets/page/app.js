// Two panes: the book to read, the chat to ask it.

import { load } from "./book.js";
import { begin } from "./chat.js";

function showPane(name) {
  document.body.dataset.pane = name;
  for (const button of document.querySelectorAll("[data-show]")) {
    button.setAttribute("aria-pressed", String(button.dataset.show === name));
  }
}

for (const button of document.querySelectorAll("[data-show]")) {
  button.addEventListener("click", () => showPane(button.dataset.show));
}
for (const link of document.querySelectorAll("[data-skip]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault(); // the address names a place in the book, not on this page
    showPane(link.dataset.skip);
    document.querySelector(link.hash).focus();
  });
}
if (location.pathname !== "/") showPane("book");
begin(showPane);
await load();
