// Savers, which are items (a form on the desk, a part of the form of a page of several) and the fields of a cloze:
// where they save, what they say, and how words get back into them.

const LARGE_PASTE = 200; // characters; a paste of so many is noted, as the consent says, and never blocked

/** @typedef {HTMLElement} Saver */
/** @typedef {[name: string, value: FormDataEntryValue]} Field */

// A button saves too, but holds nothing to lose.
/** @param {HTMLElement} element */
export const saverOf = (element) => /** @type {Saver | null} */ (element.closest?.("[data-saves]"));
export function allSavers() {
  /** @type {NodeListOf<Saver>} */
  const savers = document.querySelectorAll("[data-saves]:not(button)");
  return [...savers];
}
/**
 * @param {Saver} saver
 * @returns {saver is HTMLInputElement | HTMLTextAreaElement}
 */
const isField = (saver) => saver.matches("input, textarea");
/** @param {HTMLElement} saver */
export const pathOf = (saver) => new URL(saver.getAttribute("hx-post") ?? "", location.href).pathname;
/** @param {string} path */
export const saverAt = (path) => allSavers().find((saver) => pathOf(saver) === path);

// Whether this page is the check of all answers before they are submitted.
export const isReview = () => document.querySelector("[data-reviews]") !== null;

/**
 * What a saver now says, as it would be posted.
 * @param {Saver} saver
 * @returns {Field[]}
 */
export function fieldsOf(saver) {
  if (isField(saver)) {
    return [
      [saver.name, saver.value],
      ["base", baseOf(saver)?.value ?? "0"],
    ];
  }
  const form = saver.closest("form");
  const names = namesIn(saver);
  return form ? [...new FormData(form)].filter(([name]) => names.has(name)) : [];
}

/**
 * The names of the fields of an item: those of the page that it stands on may hold others.
 * @param {Saver} saver
 */
export function namesIn(saver) {
  const names = controlsOf(saver).map((control) => control.getAttribute("name") ?? "");
  return new Set(names.filter((name) => !["", "csrfmiddlewaretoken", "go"].includes(name)));
}

/**
 * The same words, whatever revision they build upon.
 * @param {Field[]} fields
 */
export const wordsOf = (fields) =>
  JSON.stringify(fields.filter(([name]) => name !== "base" && !name.startsWith("base-")));

/**
 * The field with the revision that a saver builds upon; that of a cloze stands apart.
 * @param {Saver} saver
 */
export const baseOf = (saver) =>
  /** @type {HTMLInputElement | null} */ (
    saver.dataset.of ? document.getElementById(`base-${saver.dataset.of}`) : saver.querySelector("[name^='base-']")
  );

/**
 * Where it is said why a saver was refused.
 * @param {Saver} saver
 */
export const problemOf = (saver) =>
  document.getElementById(`problem-${saver.dataset.of ?? saver.id.replace("item-", "")}`);

/**
 * Whether a saver shows another revision than the one that an answer names.
 * @param {Saver | undefined} saver
 * @param {string} html
 */
export function isOutdated(saver, html) {
  const base = saver && baseOf(saver);
  if (!base) return false;
  const saved = new DOMParser().parseFromString(html, "text/html").getElementById(base.id);
  return saved instanceof HTMLInputElement && saved.value !== base.value;
}

/** @param {Saver} saver */
const controlsOf = (saver) =>
  isField(saver) ? [saver] : [...saver.querySelectorAll("input, select, textarea, button")];

/**
 * Put the fields of a draft back into their saver.
 * @param {Saver} saver
 * @param {Field[]} fields
 */
export function fill(saver, fields) {
  for (const control of controlsOf(saver)) {
    const values = fields.filter(([name]) => name === control.getAttribute("name")).map(([, value]) => String(value));
    if (isChoice(control)) control.checked = values.includes(control.value);
    else if (isText(control) && values[0] !== undefined) control.value = values[0];
  }
}

/**
 * Whether somebody has answered a control since it came.
 * @param {Element} control
 */
function isAltered(control) {
  if (control.matches(":disabled")) return false;
  if (isChoice(control)) return control.checked !== control.defaultChecked;
  if (control instanceof HTMLSelectElement) {
    const original = [...control.options].find((option) => option.defaultSelected) ?? control.options[0];
    return original !== undefined && !original.selected;
  }
  return isText(control) && "defaultValue" in control && control.value !== control.defaultValue;
}
/** @param {Saver} saver */
export const hasAltered = (saver) => controlsOf(saver).some(isAltered);

/**
 * @param {Element} control
 * @returns {control is HTMLInputElement}
 */
const isChoice = (control) => control.matches("[type=radio], [type=checkbox]");
/**
 * @param {Element} control
 * @returns {control is HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement}
 */
const isText = (control) => control.matches("textarea, select, input:not([type=hidden])");

// ── Large pastes: their size is sent with the next save ──

/** @param {HTMLElement} saver */
function pastedField(saver) {
  return /** @type {HTMLInputElement | null} */ (saver.querySelector("[name^='pasted-']"));
}

/**
 * The size that a save reports.
 * @param {HTMLElement} saver
 * @param {FormData} parameters
 */
export const pastedIn = (saver, parameters) => Number(parameters.get(pastedField(saver)?.name ?? "") ?? 0);

/**
 * @param {HTMLElement} field
 * @param {number} size
 */
export function notePaste(field, size) {
  if (!(field instanceof HTMLTextAreaElement) || !field.name.startsWith("rationale-") || size < LARGE_PASTE) return;
  const saver = saverOf(field);
  const pasted = saver && pastedField(saver);
  if (pasted) pasted.value = String(Number(pasted.value) + size);
}

/**
 * Subtract what a save has reported.
 * @param {HTMLElement} saver
 * @param {number} size
 */
export function clearPaste(saver, size) {
  const pasted = pastedField(saver);
  if (pasted) pasted.value = String(Math.max(0, Number(pasted.value) - size));
}
