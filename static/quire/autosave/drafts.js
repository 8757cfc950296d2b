// Answers on their way: kept on this device until the server says that they are committed.
//
// A draft belongs to a place (the address that saves it) and to the page that wrote it, so that two windows never
// share one. Saves are named "page-n"; a draft is sent under the name of the save that it was, so that one which
// did arrive, unheard, is not written twice.
const PREFIX = "quire-draft ";
const DAYS = 30;

export const PAGE = [...crypto.getRandomValues(new Uint8Array(8))].map((b) => b.toString(16).padStart(2, "0")).join("");
// The page before this one in the same window. It is gone, even if the browser has not noticed yet.
const before = attempt(() => sessionStorage.getItem("quire-page"));
attempt(() => sessionStorage.setItem("quire-page", PAGE));
// Held as long as this page lives: how other windows know.
navigator.locks?.request(`quire-page ${PAGE}`, () => new Promise(() => {}));

// A browser may refuse storage altogether.
function attempt(what) {
  try {
    return what();
  } catch {
    return undefined;
  }
}

const named = (path, page) => `${PREFIX}${path} ${page}`;
const read = (name) => attempt(() => JSON.parse(localStorage.getItem(name)));

/** Whether the device has kept it. */
export function keep(path, n, fields) {
  const said = JSON.stringify({ path, page: PAGE, n, fields, at: Date.now() });
  return attempt(() => localStorage.setItem(named(path, PAGE), said) ?? true) ?? false;
}

/** Forget what was committed; what has been written since stays. */
export function drop({ path, page = PAGE, n }) {
  if ((read(named(path, page))?.n ?? Infinity) <= n) attempt(() => localStorage.removeItem(named(path, page)));
}

/** All drafts of this device, oldest first. Those that nobody came back to for a month are forgotten. */
export function all() {
  const names = attempt(() => Object.keys(localStorage)) ?? [];
  const found = names.filter((name) => name.startsWith(PREFIX)).map(read).filter(Boolean);
  for (const old of found.filter(({ at }) => Date.now() - at > DAYS * 86_400_000)) drop({ ...old, n: Infinity });
  return found.sort((a, b) => a.at - b.at);
}

/** Drafts whose page is gone: it was closed, it crashed, or its window has moved on. */
export async function orphans() {
  const held = (await navigator.locks?.query())?.held ?? [];
  const alive = new Set(held.map((lock) => lock.name.replace("quire-page ", "")));
  return all().filter(({ page }) => page !== PAGE && (page === before || !alive.has(page)));
}

/** Drafts of this page. */
export const mine = () => all().filter(({ page }) => page === PAGE);

export function forget(path) {
  for (const draft of all().filter((each) => each.path === path)) drop({ ...draft, n: Infinity });
}

export function forgetAll() {
  for (const draft of all()) drop({ ...draft, n: Infinity });
}

/** As a form would post it. */
export function body({ page, n, fields }) {
  const said = new FormData();
  for (const [name, value] of fields) said.append(name, value);
  said.set("key", `${page}-${n}`);
  said.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "");
  return said;
}
