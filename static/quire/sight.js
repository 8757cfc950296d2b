// Reasons that somebody writes are in sight down to their count of words, above the foot of the desk. Browsers bring
// only the line of the cursor into sight, and nothing at all for a click.
const REASONS = ".questions-pane .rationale textarea";

let isPressed = false;

/** @param {HTMLElement} field */
function show(field) {
  requestAnimationFrame(() => {
    const pane = field.closest(".questions-pane");
    // A field that is higher than its pane is where the cursor is.
    if (pane && field.offsetHeight < pane.clientHeight / 2) field.scrollIntoView({ block: "nearest" });
  });
}

for (const type of /** @type {const} */ (["focusin", "click", "input"])) {
  document.addEventListener(type, (event) => {
    // Between pressing and letting go it would move under the pointer, and words would be selected.
    if (!isPressed && event.target.matches?.(REASONS)) show(event.target);
  });
}
document.addEventListener("pointerdown", () => {
  isPressed = true;
});
for (const type of ["pointerup", "pointercancel"]) {
  document.addEventListener(type, () => {
    isPressed = false;
  });
}
