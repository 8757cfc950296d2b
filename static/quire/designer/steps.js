// What is asked: names put into a text, steps moved by dragging and by keys, the preview's width, one's own time zone.
// Every one of these has a button or a field that works without this file.

import { required } from "../dom.js";

for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-needs-script]"))) {
  element.hidden = false;
}

/** @param {HTMLElement} chip */
function putIn(chip) {
  const chips = /** @type {HTMLElement} */ (chip.closest("[data-for]"));
  const area = /** @type {HTMLTextAreaElement} */ (required(`#${chips.dataset.for}`));
  area.setRangeText(`{${chip.dataset.chip}}`, area.selectionStart, area.selectionEnd, "end");
  area.focus();
}

/**
 * Post that the step of this head goes to that place, from 0.
 * @param {HTMLElement} head
 * @param {number} place
 */
function move(head, place) {
  const form = /** @type {HTMLFormElement} */ (required("#moving"));
  form.action = /** @type {string} */ (head.dataset.moves);
  /** @type {HTMLInputElement} */ (required("[name=to]", form)).value = String(Math.max(0, place));
  form.submit();
}

/** @param {Element} head */
const placeOf = (head) => Number(/** @type {HTMLElement} */ (head.closest("[data-number]")).dataset.number) - 1;

const heads = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-moves]")]);
/** @type {HTMLElement | null} */
let dragged = null;

for (const head of heads) {
  const card = /** @type {HTMLElement} */ (head.closest("[data-number]"));
  head.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!event.altKey || by === undefined) return;
    event.preventDefault();
    move(head, placeOf(head) + by);
  });
  head.draggable = true;
  head.addEventListener("dragstart", (event) => {
    dragged = head;
    event.dataTransfer?.setData("text/plain", head.textContent ?? "");
  });
  head.addEventListener("dragend", () => {
    dragged = null;
  });
  card.addEventListener("dragover", (event) => {
    if (!dragged || dragged === head) return;
    event.preventDefault();
    card.dataset.drop = placeOf(dragged) < placeOf(head) ? "after" : "before";
  });
  card.addEventListener("dragleave", () => delete card.dataset.drop);
  card.addEventListener("drop", (event) => {
    delete card.dataset.drop;
    if (!dragged || dragged === head) return;
    event.preventDefault();
    move(dragged, placeOf(head));
  });
}

for (const chip of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-chip]"))) {
  chip.addEventListener("click", () => putIn(chip));
}

// The page as it would be, while it is being written. Without this file the button beside Save shows it.
const written = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-preview]"));
const frame = /** @type {HTMLIFrameElement | null} */ (document.querySelector(".preview iframe"));
const PAUSE_MS = 600;
let nAsked = 0;
let pause = 0;

async function showWritten() {
  if (!written || !frame) return;
  nAsked += 1;
  const n = nAsked;
  const address = /** @type {string} */ (written.dataset.preview);
  try {
    const response = await fetch(address, { method: "POST", body: new FormData(written) });
    const html = await response.text();
    if (!response.ok || n !== nAsked) return;
    const place = frame.contentWindow?.scrollY ?? 0;
    frame.addEventListener("load", () => frame.contentWindow?.scrollTo(0, place), { once: true });
    frame.srcdoc = html;
  } catch {
    // Offline: the page that was shown last stays.
  }
}

written?.addEventListener("input", () => {
  clearTimeout(pause);
  pause = window.setTimeout(showWritten, PAUSE_MS);
});

const phone = /** @type {HTMLInputElement | null} */ (document.querySelector(".preview [value=phone]"));
if (phone && matchMedia("(width < 40rem)").matches) phone.checked = true;

const zone = /** @type {HTMLInputElement | null} */ (document.querySelector("[data-local]"));
if (zone) {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (own && Intl.supportedValuesOf("timeZone").includes(own)) {
    zone.value = own;
    required("[data-zone]").textContent = own;
    if (zone.dataset.at) {
      const at = new Date(zone.dataset.at);
      const field = /** @type {HTMLInputElement} */ (required(`#${zone.dataset.local}`));
      field.value = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
    }
  }
}
