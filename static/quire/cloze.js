// A cloze: what its fields and its sections need beyond saving.js.
const baseOf = (id) => document.getElementById(`base-${id}`);
const fieldOf = (id) => document.querySelector(`.blank [data-of="${CSS.escape(id)}"]`);

// A save says upon which revision it builds.
document.addEventListener("htmx:configRequest", (event) => {
  const id = event.detail.elt.dataset.of;
  if (id) event.detail.parameters.set("base", baseOf(id).value);
});

// The return key keeps a word; the form as a whole has buttons of its own.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || !event.target.matches(".blank input")) return;
  event.preventDefault();
  event.target.dispatchEvent(new Event("change", { bubbles: true }));
});

// Once “It still fits” is kept, its button is gone: the blank takes the focus.
document.addEventListener("htmx:afterRequest", (event) => {
  const asked = event.detail.requestConfig.elt;
  if (event.detail.successful && asked.name === "confirm") fieldOf(asked.dataset.of)?.focus();
});

// Two versions of one blank: whichever is kept is saved upon what is there now.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-keeps]");
  if (!button) return;
  const { of, keeps, revision } = button.dataset;
  const field = fieldOf(of);
  if (keeps === "theirs") field.value = button.closest(".problem").querySelector("[data-theirs]").textContent;
  baseOf(of).value = revision;
  field.focus();
  field.dispatchEvent(new Event("change", { bubbles: true }));
});

// What a section asks stands open where there is room for it beside the text.
if (matchMedia("(width >= 64rem)").matches) {
  for (const asks of document.querySelectorAll(".passage .constraints details")) asks.open = true;
}
if (!CSS.supports("field-sizing", "content")) {
  const grow = (text) => {
    text.style.height = "auto";
    text.style.height = `${text.scrollHeight}px`;
  };
  document.addEventListener("input", (event) => event.target.matches(".blank textarea") && grow(event.target));
  document.querySelectorAll(".blank textarea").forEach(grow);
}

// Where one is: the section of the field that has the focus, otherwise the one in the middle of the window.
const cloze = document.querySelector(".cloze");
function go(section) {
  if (!section || section === cloze.dataset.section) return;
  cloze.dataset.section = section;
  for (const link of document.querySelectorAll(".sections a[href^='#section-']")) {
    link.toggleAttribute("aria-current", false);
    if (link.hash === `#section-${section}`) link.setAttribute("aria-current", "true");
  }
}
const seen = new IntersectionObserver(
  (entries) => entries.forEach((entry) => entry.isIntersecting && go(entry.target.dataset.section)),
  { rootMargin: "-50% 0px -50% 0px" },
);
document.querySelectorAll(".passage").forEach((passage) => seen.observe(passage));
document.addEventListener("focusin", (event) => go(event.target.closest(".passage")?.dataset.section));
