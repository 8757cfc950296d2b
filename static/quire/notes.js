// Notes of a story open where they are called, below their paragraph. Without this script a mark leads to its note.

/** @type {WeakMap<Element, HTMLElement>} the note that a mark has opened */
const noteByMark = new WeakMap();

/**
 * The words of a note: a paragraph, or of one with several notes the lines from its own mark to the next.
 * @param {HTMLElement} paragraph
 * @param {string} mark
 */
function wordsOf(paragraph, mark) {
  const lines = (paragraph.textContent ?? "").split("\n");
  const first = lines.findIndex((line) => line.trimStart().startsWith(mark));
  if (first < 0) return lines.join("\n");
  const kind = /^(\[\^?|[⁰¹²³⁴-⁹])/u;
  const next = lines.findIndex((line, i) => i > first && kind.test(line.trimStart()));
  return lines.slice(first, next < 0 ? undefined : next).join("\n");
}

/** @param {HTMLElement} mark */
function openNote(mark) {
  const target = document.getElementById(mark.getAttribute("href")?.slice(1) ?? "");
  const paragraph = mark.closest("p");
  if (!target || !paragraph) return;
  const note = document.createElement("div");
  note.className = "story-note";
  note.setAttribute("role", "note");
  note.id = `note-${crypto.randomUUID()}`;
  note.textContent = wordsOf(target, mark.textContent ?? "");
  let last = /** @type {Element} */ (paragraph);
  while (last.nextElementSibling?.matches(".story-note")) last = last.nextElementSibling;
  last.after(note);
  noteByMark.set(mark, note);
  mark.setAttribute("aria-expanded", "true");
  mark.setAttribute("aria-controls", note.id);
}

/** @param {HTMLElement} mark */
function closeNote(mark) {
  noteByMark.get(mark)?.remove();
  noteByMark.delete(mark);
  mark.setAttribute("aria-expanded", "false");
  mark.removeAttribute("aria-controls");
}

/** @type {NodeListOf<HTMLElement>} */
const marks = document.querySelectorAll("[data-note]");
for (const mark of marks) mark.setAttribute("aria-expanded", "false");

document.addEventListener("click", (event) => {
  const mark = event.target.closest("[data-note]");
  if (!mark || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (noteByMark.get(mark)?.isConnected) closeNote(mark);
  else openNote(mark);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !event.target.matches?.("[data-note]") || !noteByMark.has(event.target)) return;
  closeNote(event.target);
  event.preventDefault();
});
