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
if (location.pathname !== "/") showPane("book");
begin(await load(), showPane);
