// Fields as large as what they say, for browsers whose style sheets cannot make them so (WebKit has no field-sizing).
const FIELDS = ".blank textarea, .rationale textarea";
const PHRASE = ".blank:not(.long) textarea";

/** @type {WeakMap<HTMLElement, string>} the height that a field was given; another was made by hand, and stays */
const heights = new WeakMap();
/** @type {WeakMap<Element, number>} the width for which that was */
const widths = new WeakMap();
/** @type {WeakSet<Element>} */
const observed = new WeakSet();

// All of them are written to, then all are read: a browser lays the page out for each reading after a writing, which
// field by field takes it seconds on a page of fifty.
/** @param {HTMLElement[]} some */
function fit(some) {
  const fields = some.filter((field) => field.offsetParent && field.style.height === (heights.get(field) ?? ""));
  const frames = fields.map((field) => field.offsetHeight - field.clientHeight);
  const phrases = fields.filter((field) => field.matches(PHRASE));
  // A phrase that may grow would be as wide as its hint, whatever it says.
  for (const { style } of phrases) [style.whiteSpace, style.flexGrow, style.width] = ["pre", "0", "0"];
  const needed = phrases.map((phrase) => phrase.scrollWidth + 2);
  phrases.forEach(({ style }, i) => {
    [style.whiteSpace, style.flexGrow, style.width] = ["", "", `${needed[i]}px`];
  });
  for (const { style } of fields) style.height = "0";
  const tall = fields.map((field, i) => field.scrollHeight + frames[i]);
  fields.forEach((field, i) => {
    field.style.height = `${tall[i]}px`;
    heights.set(field, field.style.height);
  });
  for (const field of fields) widths.set(field, field.offsetWidth);
}

// When a field is first seen, when the window is narrower or a tab is turned to; its own new height changes nothing.
const observer = new ResizeObserver((entries) => {
  const fields = entries.map(({ target }) => target).filter((target) => target instanceof HTMLElement);
  fit(fields.filter((field) => widths.get(field) !== field.offsetWidth));
});
/** @returns {HTMLElement[]} */
const all = () => [...document.querySelectorAll(FIELDS)];

// What came with an answer of the server; an answer has many parts, and the fields that stood before are as they were.
function observeNew() {
  for (const field of all()) {
    if (observed.has(field)) continue;
    observed.add(field);
    observer.observe(field);
  }
}

if (!CSS.supports("field-sizing", "content")) {
  observeNew();
  document.fonts.ready.then(() => fit(all()));
  addEventListener("resize", () => fit(all()));
  document.addEventListener("htmx:afterSwap", observeNew);
  for (const type of /** @type {const} */ (["input", "change"])) {
    document.addEventListener(type, (event) => event.target.matches?.(FIELDS) && fit([event.target]));
  }
}
