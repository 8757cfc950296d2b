// Whoever leaves a page on which they changed something that is not saved is asked first. Nothing else depends on this
// file.

/**
 * The form of saved values that the element stands in: those carry a mark of what was saved when the page was made.
 * @param {HTMLElement} element
 */
function editForm(element) {
  const form = element.closest("form");
  return form?.querySelector("[name=seen]") ? form : null;
}

// A page that was refused shows what was sent and is not saved.
let isUnsaved = document.querySelector("[name=seen][data-refused]") !== null;

document.addEventListener("input", (event) => {
  if (editForm(event.target)) isUnsaved = true;
});

document.addEventListener("submit", (event) => {
  const button = /** @type {HTMLButtonElement | null} */ (event.submitter);
  // To move a question is not to save what was typed into it.
  if (editForm(event.target) && !["earlier", "later"].includes(button?.value ?? "")) isUnsaved = false;
});

addEventListener("beforeunload", (event) => {
  if (isUnsaved) event.preventDefault();
});
