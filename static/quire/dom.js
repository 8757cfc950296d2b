// What a template promises to be there.

/**
 * The first element that matches; an error that names the selector, where there is none.
 * @template {HTMLElement} [E=HTMLElement]
 * @param {string} selector
 * @param {ParentNode} root
 * @returns {E}
 */
export function required(selector, root = document) {
  /** @type {E | null} */
  const element = root.querySelector(selector);
  if (!element) throw new Error(`The page has no ${selector}.`);
  return element;
}

/** The token that every form of a page carries. */
export const csrfToken = () => /** @type {HTMLInputElement} */ (required("[name=csrfmiddlewaretoken]")).value;
