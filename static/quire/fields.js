// Fields as large as what they say, for browsers whose style sheets cannot make them so (WebKit has no field-sizing).
const FIELDS = ".blank textarea, .rationale textarea";
const PHRASE = ".blank:not(.long) textarea";

/** @type {WeakMap<HTMLElement, string>} the height that a field was given; another was made by hand, and stays */
const heights = new WeakMap();
/** @type {WeakMap<Element, number>} the width for which that was */
const widths = new WeakMap();

/** @param {HTMLElement} field */
function fit(field) {
  const { style } = field;
  if (!field.offsetParent || style.height !== (heights.get(field) ?? "")) return;
  const frame = field.offsetHeight - field.clientHeight;
  if (field.matches(PHRASE)) {
    style.whiteSpace = "pre";
    style.flexGrow = "0"; // or it would be as wide as its hint, whatever it says
    style.width = "0";
    style.width = `${field.scrollWidth + 2}px`;
    style.flexGrow = "";
    style.whiteSpace = "";
  }
  style.height = "0";
  style.height = `${field.scrollHeight + frame}px`;
  heights.set(field, style.height);
  widths.set(field, field.offsetWidth);
}

// When a field is first seen, when the window is narrower or a tab is turned to; its own new height changes nothing.
const observer = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target instanceof HTMLElement && widths.get(target) !== target.offsetWidth) fit(target);
  }
});
function fitAll() {
  /** @type {NodeListOf<HTMLElement>} */
  const fields = document.querySelectorAll(FIELDS);
  for (const field of fields) {
    fit(field);
    observer.observe(field);
  }
}

if (!CSS.supports("field-sizing", "content")) {
  fitAll();
  document.fonts.ready.then(fitAll);
  addEventListener("resize", fitAll);
  document.addEventListener("htmx:afterSwap", fitAll);
  for (const type of /** @type {const} */ (["input", "change"])) {
    document.addEventListener(type, (event) => event.target.matches?.(FIELDS) && fit(event.target));
  }
}
