// A cloze: what its fields and its sections need beyond autosave/.
import { required } from "./dom.js";

/** @param {string} id @returns {HTMLInputElement} */
const baseOf = (id) => required(`#${CSS.escape(`base-${id}`)}`);
/** @param {string} id @returns {HTMLTextAreaElement | null} */
const fieldOf = (id) => document.querySelector(`.blank [data-of="${CSS.escape(id)}"]`);

// A save says upon which revision it builds.
document.addEventListener("htmx:configRequest", (event) => {
  const id = event.detail.elt.dataset.of;
  if (id) event.detail.parameters.set("base", baseOf(id).value);
});

// A word or a phrase has no lines of its own: the return key keeps it, and what is pasted runs on.
const PHRASE = ".blank:not(.long) textarea";
document.addEventListener(
  "input",
  (event) => {
    const field = event.target;
    if (!(field instanceof HTMLTextAreaElement) || !field.matches(PHRASE) || !field.value.includes("\n")) return;
    field.value = field.value.replace(/\s*\n\s*/g, " ");
  },
  true,
);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || !event.target.matches(PHRASE)) return;
  event.preventDefault();
  event.target.dispatchEvent(new Event("change", { bubbles: true }));
});

// Once “It still fits” is kept, its button is gone: the blank takes the focus.
document.addEventListener("htmx:afterRequest", (event) => {
  const button = event.detail.requestConfig?.elt;
  if (!event.detail.successful || button?.getAttribute("name") !== "confirm") return;
  fieldOf(button.dataset.of ?? "")?.focus();
});

// Two versions of one blank: whichever is kept is saved upon what is there now.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-keeps]");
  const { of, keeps, revision } = button?.dataset ?? {};
  const field = of && fieldOf(of);
  if (!button || !field || !revision) return;
  if (keeps === "theirs") field.value = button.closest(".problem")?.querySelector("[data-theirs]")?.textContent ?? "";
  baseOf(of).value = revision;
  field.focus();
  field.dispatchEvent(new Event("change", { bubbles: true }));
});

// What a section asks stands open where there is room for it beside the text.
if (matchMedia("(width >= 64rem)").matches) {
  /** @type {NodeListOf<HTMLDetailsElement>} */
  const constraints = document.querySelectorAll(".passage .constraints details");
  for (const details of constraints) details.open = true;
}

// Where one is: the section of the field that has the focus, otherwise the one in the middle of the window.
const cloze = required(".cloze");
/** @param {string | undefined} section */
function markSection(section) {
  if (!section || section === cloze.dataset.section) return;
  cloze.dataset.section = section;
  /** @type {NodeListOf<HTMLAnchorElement>} */
  const links = document.querySelectorAll(".sections a[href^='#section-']");
  for (const link of links) {
    link.toggleAttribute("aria-current", false);
    if (link.hash === `#section-${section}`) link.setAttribute("aria-current", "true");
  }
}
const observer = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting && target instanceof HTMLElement) markSection(target.dataset.section);
    }
  },
  { rootMargin: "-50% 0px -50% 0px" },
);
for (const passage of document.querySelectorAll(".passage")) observer.observe(passage);
document.addEventListener("focusin", (event) => markSection(event.target.closest(".passage")?.dataset.section));
