// The key that a locked server asks for: kept in the tab's session storage, one form for whoever needs it.

import type { CitewellWidget } from "../loader.js";

const STORED = "key";

export class KeyForm {
  private readonly form = document.getElementById("key-form") as HTMLFormElement;
  private readonly field = document.getElementById("key") as HTMLInputElement;
  private readonly note = document.getElementById("key-note")!;
  private asking: Promise<void> | null = null;

  constructor(private readonly widget: CitewellWidget) {
    const known = sessionStorage.getItem(STORED);
    if (known) widget.dataset.key = known;
  }

  /** Whoever asks while the form is shown waits for the same key. */
  ask(refused: boolean): Promise<void> {
    return (this.asking ??= this.asked(refused).finally(() => (this.asking = null)));
  }

  private asked(refused: boolean): Promise<void> {
    this.note.textContent = refused ? "The server does not accept this key." : "This server asks for a key.";
    this.form.hidden = false;
    this.field.select();
    return new Promise((resolve) => {
      this.form.onsubmit = (event) => {
        event.preventDefault();
        sessionStorage.setItem(STORED, this.field.value);
        this.widget.dataset.key = this.field.value;
        this.form.hidden = true;
        void this.widget.open();
        resolve();
      };
    });
  }
}
