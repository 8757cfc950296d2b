// Answers on their way: kept on this device until the server says that they are committed.
//
// A draft belongs to a place (the address that saves it) and to the page that wrote it, so that two windows never
// share one. Saves are named "page-n"; a draft is sent under the name of the save that it was, so that one which
// did arrive, unheard, is not written twice.
const PREFIX = "quire-draft ";
export const LIFETIME = 30 * 86_400_000; // milliseconds

/**
 * Refused: why the server can never take it, in its words.
 * @typedef {{ path: string, page: string, n: number, fields: import("./forms.js").Field[], at: number,
 *   refused?: string }} Draft
 */

export const PAGE = [...crypto.getRandomValues(new Uint8Array(8))].map((b) => b.toString(16).padStart(2, "0")).join("");
// The page before this one in the same window. It is gone, even if the browser has not noticed yet.
const previousPage = attempt(() => sessionStorage.getItem("quire-page"));
attempt(() => sessionStorage.setItem("quire-page", PAGE));
// Held as long as this page lives: how other windows know.
navigator.locks?.request(`quire-page ${PAGE}`, () => new Promise(() => {}));

/**
 * A browser may refuse storage altogether.
 * @template T
 * @param {() => T} access
 */
export function attempt(access) {
  try {
    return access();
  } catch {
    return undefined;
  }
}

/**
 * @param {string} path
 * @param {string} page
 */
const nameOf = (path, page) => `${PREFIX}${path} ${page}`;
/**
 * @param {string} name
 * @returns {Draft | null | undefined}
 */
const load = (name) => attempt(() => JSON.parse(localStorage.getItem(name) ?? "null"));

/**
 * The name of the save that a draft was.
 * @param {{ page?: string, n: number }} draft
 */
export const keyOf = ({ page = PAGE, n }) => `${page}-${n}`;

/**
 * Whether the device has kept it.
 * @param {string} path
 * @param {number} n
 * @param {import("./forms.js").Field[]} fields
 * @param {string} [refused]
 */
export const keep = (path, n, fields, refused) => store({ path, page: PAGE, n, fields, at: Date.now(), refused });

/** @param {Draft} draft */
function store(draft) {
  const write = () => {
    localStorage.setItem(nameOf(draft.path, draft.page), JSON.stringify(draft));
    return true;
  };
  return attempt(write) ?? false;
}

/**
 * Remember why a draft can never be saved as it is; it is not sent again.
 * @param {{ path: string, page?: string, n: number }} draft
 * @param {string} refused
 */
export function markRefused({ path, page = PAGE, n }, refused) {
  const draft = load(nameOf(path, page));
  if (draft?.n === n) store({ ...draft, refused });
}

/**
 * Forget what was committed; what has been written since stays.
 * @param {{ path: string, page?: string, n: number }} draft
 */
export function drop({ path, page = PAGE, n }) {
  const name = nameOf(path, page);
  if ((load(name)?.n ?? Infinity) <= n) attempt(() => localStorage.removeItem(name));
}

/** All drafts of this device, oldest first. Those that nobody came back to for a month are forgotten. */
export function all() {
  const names = attempt(() => Object.keys(localStorage)) ?? [];
  const drafts = names
    .filter((name) => name.startsWith(PREFIX))
    .map(load)
    .filter((draft) => draft != null);
  for (const draft of drafts) if (Date.now() - draft.at > LIFETIME) drop({ ...draft, n: Infinity });
  return drafts.sort((a, b) => a.at - b.at);
}

/** Drafts whose page is gone: it was closed, it crashed, or its window has moved on. */
export async function orphans() {
  const held = (await navigator.locks?.query())?.held ?? [];
  const alive = new Set(held.map((lock) => lock.name?.replace("quire-page ", "")));
  return all().filter(({ page }) => page !== PAGE && (page === previousPage || !alive.has(page)));
}

/** Drafts of this page. */
export const mine = () => all().filter(({ page }) => page === PAGE);

/** @param {string | undefined} path */
export function forget(path) {
  for (const draft of all()) if (draft.path === path) drop({ ...draft, n: Infinity });
}

export function forgetAll() {
  for (const draft of all()) drop({ ...draft, n: Infinity });
}

/**
 * As a form would post it.
 * @param {Draft} draft
 */
export function body(draft) {
  const form = new FormData();
  for (const [name, value] of draft.fields) form.append(name, value);
  form.set("key", keyOf(draft));
  /** @type {HTMLInputElement | null} */
  const token = document.querySelector("[name=csrfmiddlewaretoken]");
  form.set("csrfmiddlewaretoken", token?.value ?? "");
  return form;
}
