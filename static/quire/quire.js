// What HTML cannot do alone. Every page works without it, but for saving as one types.
import "./reading.js";
import "./saving.js";
import "./going.js";
import "./timing.js";
import "./ranking.js";
import "./quoting.js";
import "./keys.js";

// Times in the reader's own zone, written as the server writes them.
const { lang } = document.documentElement;
const format = (parts) => new Intl.DateTimeFormat(document.body.dataset.locale, parts);
const clock = format({ hour: "2-digit", minute: "2-digit" });
const clockWithZone = format({ hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
const day = format({ day: "numeric", month: "long", year: "numeric" });
function localise(root) {
  for (const time of root.querySelectorAll("time[datetime]:not([data-local])")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.textContent = "day" in time.dataset ? `${day.format(at)}, ${clockWithZone.format(at)}` : clock.format(at);
    time.dataset.local = "";
  }
}

// Words under a text, counted as the server counts them.
function count(text) {
  const counter = document.querySelector(`[data-counts="${CSS.escape(text.id)}"]`);
  if (!counter) return;
  const n = (text.value.match(/\S+/g) ?? []).length;
  counter.textContent = n;
  const unit = counter.parentElement.querySelector("[data-many]");
  if (unit) unit.textContent = new Intl.PluralRules(lang).select(n) === "one" ? unit.dataset.one : unit.dataset.many;
}
document.addEventListener("input", (event) => {
  if (event.target.matches("textarea")) count(event.target);
});

// How many questions of the story are open, as the index beside them says.
document.addEventListener("htmx:oobAfterSwap", (event) => {
  const hint = document.querySelector("[data-lacking]");
  if (!hint || !event.detail.target?.matches(".mark")) return;
  const n = document.querySelectorAll(".mark[data-lacks]").length;
  hint.textContent = { 0: hint.dataset.none, 1: hint.dataset.one }[n] ?? hint.dataset.many.replace("%n", n);
});

// Clear: no radio chosen, or an empty text; then it is saved like any other answer.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-clears]");
  if (!button) return;
  const controls = [...button.form.elements].filter((control) => control.name === button.dataset.clears);
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
  localise(document);
  document.querySelector("[data-takes-focus]")?.focus();
});

localise(document);
document.querySelector("[data-takes-focus], #questions .item:has(.problem:not(:empty)) h2")?.focus();
