// Stories are dragged onto a group, and files onto the field that takes them. Both pages have buttons for the same.
import { required } from "../dom.js";

/** @type {NodeListOf<HTMLElement>} */
const tables = document.querySelectorAll("[data-moves-stories]");
for (const form of tables) {
  form.addEventListener("dragstart", (event) => {
    /** @type {HTMLInputElement | null | undefined} */
    const box = event.target.closest("tr")?.querySelector("[name=story]");
    if (!box || !event.dataTransfer) return;
    /** @type {NodeListOf<HTMLInputElement>} */
    const boxes = form.querySelectorAll("[name=story]");
    // Whoever drags a story that is not chosen means this one alone.
    if (!box.checked) for (const other of boxes) other.checked = other === box;
    event.dataTransfer.setData("text/plain", "stories");
    event.dataTransfer.effectAllowed = "move";
  });
  form.addEventListener("dragover", (event) => {
    if (event.target.closest("[data-group]")) event.preventDefault();
  });
  form.addEventListener("drop", (event) => {
    /** @type {HTMLElement | null} */
    const body = event.target.closest("[data-group]");
    if (!body || !(form instanceof HTMLFormElement)) return;
    event.preventDefault();
    /** @type {HTMLSelectElement} */
    const to = required("[name=to]", form);
    to.value = body.dataset.group ?? "";
    form.requestSubmit(required("[value=move]", form));
  });
}

/** @type {NodeListOf<HTMLElement>} */
const zones = document.querySelectorAll("[data-drop]");
for (const zone of zones) {
  zone.addEventListener("dragover", (event) => event.preventDefault());
  zone.addEventListener("drop", (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    /** @type {HTMLInputElement} */
    const field = required("[type=file]", zone);
    field.files = event.dataTransfer.files;
  });
}
