// What HTML cannot do alone. Every page works without it, but for saving as one types.
import "./display.js";
import "./autosave/index.js";
import "./navigation.js";
import "./stopwatch.js";
import "./ranking.js";
import "./quotes.js";
import "./notes.js";
import "./keys.js";
import "./fields.js";
import "./sight.js";
import "./deadline.js";
import "./permalinks.js";

// Times in the reader's own zone, written as the server writes them.
const { lang } = document.documentElement;
/** @param {Intl.DateTimeFormatOptions} parts */
const format = (parts) => new Intl.DateTimeFormat(document.body.dataset.locale, parts);
const clock = format({ hour: "2-digit", minute: "2-digit" });
const clockWithZone = format({ hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
const day = format({ day: "numeric", month: "long", year: "numeric" });
function localise() {
  /** @type {NodeListOf<HTMLTimeElement>} */
  const times = document.querySelectorAll("time[datetime]:not([data-local])");
  for (const time of times) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.textContent = "day" in time.dataset ? `${day.format(at)}, ${clockWithZone.format(at)}` : clock.format(at);
    time.dataset.local = "";
  }
}

// Words or sentences under a text, counted as the server counts them.
const END_OF_SENTENCE = /[.!?…]+["'”’»)\]]*(?=\s|$)|[。！？؟۔।॥]+|\n/;
/** @param {string} text */
const countSentences = (text) => text.split(END_OF_SENTENCE).filter((part) => /[\p{L}\p{N}]/u.test(part)).length;
/** @param {string} text */
const countWords = (text) => (text.match(/\S+/g) ?? []).length;
/** @param {HTMLTextAreaElement} text */
function count(text) {
  const counter = document.querySelector(`[data-counts="${CSS.escape(text.id)}"]`);
  if (!counter) return;
  const n = (counter.hasAttribute("data-sentences") ? countSentences : countWords)(text.value);
  counter.textContent = String(n);
  const unit = counter.parentElement?.querySelector("[data-many]");
  const { one, many } = unit?.dataset ?? {};
  if (unit) unit.textContent = (new Intl.PluralRules(lang).select(n) === "one" ? one : many) ?? "";
}
document.addEventListener("input", (event) => {
  if (event.target instanceof HTMLTextAreaElement) count(event.target);
});

// How many questions of the story are open, as the index beside them says.
document.addEventListener("htmx:oobAfterSwap", (event) => {
  const hint = document.querySelector("[data-lacking]");
  if (!hint || !event.detail.target?.matches(".mark")) return;
  const n = document.querySelectorAll(".mark[data-lacks]").length;
  const { none, one, many } = hint.dataset;
  hint.textContent = [none, one][n] ?? many?.replace("%n", String(n)) ?? "";
});

// The return key keeps an answer; a page of several has a button to go on.
document.addEventListener("keydown", (event) => {
  const isAnswer = event.target.matches("div[data-saves] :is(input, select)");
  if (event.key !== "Enter" || event.isComposing || !isAnswer) return;
  event.preventDefault();
  event.target.dispatchEvent(new Event("change", { bubbles: true }));
});

// Clear: no radio chosen, or an empty text; then it is saved like any other answer.
document.addEventListener("click", (event) => {
  /** @type {HTMLButtonElement | null} */
  const button = event.target.closest("[data-clears]");
  if (!button?.form) return;
  const all = /** @type {Iterable<HTMLInputElement>} */ (button.form.elements);
  const controls = [...all].filter((control) => control.name === button.dataset.clears);
  for (const control of controls) {
    if (control.type === "radio") control.checked = false;
    else control.value = "";
  }
  const first = controls.find((control) => control.type !== "hidden");
  first?.focus();
  first?.dispatchEvent(new Event("change", { bubbles: true }));
});

// After an exchange of questions: their heading has the focus, so that readers by ear know where they are.
function arrive() {
  const pane = document.getElementById("questions");
  if (pane) pane.scrollTop = 0;
  scrollTo(0, 0); // on small screens the page scrolls, not the pane
  document.querySelector("#questions h2")?.focus({ preventScroll: true });
}
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id === "questions") arrive();
});
document.addEventListener("htmx:afterSettle", () => {
  localise();
  document.querySelector("[data-takes-focus]")?.focus();
});

localise();
document.querySelector("[data-takes-focus], #questions .item:has(.problem:not(:empty)) h2")?.focus();

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) print();
});
