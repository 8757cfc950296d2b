// What could not be saved is sent again: by its form, or, where that is gone, as a draft under the name of its save.
import * as acknowledged from "./acknowledged.js";
import { LONGEST_RETRY_DELAY, REQUEST_TIMEOUT } from "./delays.js";
import * as drafts from "./drafts.js";
import { fill, isOutdated, isReview, problemOf, saverAt, wordsOf } from "./forms.js";
import { codeOf, outcomeOf, queue, REASON, REVISION, SIGNATURE, waitOf } from "./queue.js";
import { clearTrouble, markFailed, say, sayDone, saySentence, saysTrouble, sayTrouble } from "./status.js";

/** @typedef {import("./drafts.js").Draft} Draft */
/** @typedef {import("./forms.js").Saver} Saver */

/**
 * Send a saver at once: htmx posts it upon this event.
 * @param {HTMLElement} saver
 */
export function send(saver) {
  queue.cancel(saver);
  if (queue.moves.has(saver)) return; // going on saves it
  if (saver.isConnected) saver.dispatchEvent(new CustomEvent("typed", { bubbles: true }));
}

/** Whatever failed is tried again when there is reason to hope. */
export function retryAll() {
  for (const saver of queue.failures.keys()) {
    if (saver.isConnected) send(saver);
    else queue.failures.delete(saver);
  }
  deliverDrafts();
}
addEventListener("online", retryAll);
document.addEventListener("visibilitychange", () => !document.hidden && retryAll());
document.addEventListener("click", (event) => event.target.closest("[data-retries]") && retryAll());

// ── Drafts that another page has left, or a form of this one that is gone ──

/** @param {Draft} draft */
const isOpen = (draft) => !queue.settledDrafts.has(drafts.keyOf(draft));
/** Drafts of this page whose words are in no form any more. */
const strays = () => drafts.mine().filter((draft) => isOpen(draft) && !queue.holds(saverAt(draft.path), draft.n));

/** Send all of them, one delivery after the other, and show them where they cannot simply be taken. */
export function deliverDrafts() {
  // Whoever of the staff has tried a study has answers on this device that only a rater's page can send.
  if (document.body.matches(".staff")) return;
  queue.nDeliveries += 1;
  clearTimeout(queue.nextDelivery);
  // A question was left with words that no server has, and opened again: they stand there, but until they have been
  // delivered nothing can be written over them.
  const waiting = strays().filter(({ path }) => saverAt(path));
  for (const { path, fields } of waiting) {
    const saver = lock(path);
    if (saver) fill(saver, fields);
  }
  queue.delivery = queue.delivery
    .then(deliverAll)
    .catch(console.error)
    .finally(() => {
      queue.nDeliveries -= 1;
      for (const { path } of waiting) unlock(path);
    });
}

async function deliverAll() {
  const missing = acknowledged.undelivered().filter(isOpen);
  const open = [...missing, ...(await drafts.orphans()).filter(isOpen), ...strays()];
  const waiting = open.map(({ path }) => path).filter(saverAt);
  waiting.forEach(lock);
  /** @type {import("./queue.js").Outcome[]} */
  const outcomes = [];
  for (const draft of open) {
    const outcome = await deliver(draft);
    if (outcome !== "undelivered") acknowledged.settle(draft);
    outcomes.push(outcome === "taken" && "revision" in draft ? "outdated" : outcome);
  }
  waiting.forEach(unlock);
  const { isIncomplete, isCompleteAtLast, mustReload } = queue.closeDelivery(outcomes);
  if (isIncomplete) {
    say(navigator.onLine ? "failed" : "offline");
    if (navigator.onLine && !saysTrouble()) sayTrouble("unreached");
    queue.nextDelivery = setTimeout(retryAll, LONGEST_RETRY_DELAY);
  }
  if (isCompleteAtLast) {
    clearTrouble();
    sayDone();
  }
  if (mustReload) location.reload();
}

/** @param {string} path */
function lock(path) {
  const saver = saverAt(path);
  if (saver) saver.inert = true;
  return saver;
}
/** @param {string} path */
function unlock(path) {
  const saver = saverAt(path);
  if (saver) saver.inert = strays().some((draft) => draft.path === path);
}

/**
 * @param {Draft} draft
 * @returns {Promise<import("./queue.js").Outcome>}
 */
async function deliver(draft) {
  const saver = saverAt(draft.path);
  if (draft.refused) {
    queue.settledDrafts.add(drafts.keyOf(draft));
    if (saver) putBack(saver, draft);
    else sayKept(draft, draft.refused);
    return "refused";
  }
  let answer;
  try {
    const headers = { "HX-Request": "true" };
    const [body, signal] = [drafts.body(draft), AbortSignal.timeout(REQUEST_TIMEOUT)];
    answer = await fetch(draft.path, { method: "POST", body, headers, signal, redirect: "error" });
  } catch {
    return "undelivered";
  }
  const wait = waitOf(answer.status, answer.headers.get("Retry-After"));
  if (wait) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    return deliver(draft);
  }
  const reason = answer.headers.get(REASON);
  const outcome = outcomeOf(codeOf(answer.status, answer.headers.get(SIGNATURE), reason));
  if (outcome === "taken") {
    drafts.drop(draft);
    acknowledged.note(draft, answer.headers.get(REVISION));
    return isOutdated(saver, await answer.text()) || isReview() ? "outdated" : "taken";
  }
  if (answer.status === 401) sayEnd(reason);
  if (outcome === "undelivered") {
    if (reason === "paused") saySentence(reasonIn(await answer.text()));
    return outcome;
  }
  queue.settledDrafts.add(drafts.keyOf(draft));
  if (outcome === "refused" && answer.status !== 401) await showRefused(draft, saver, answer);
  return outcome;
}

/**
 * Say why the session has ended. Of a rater who has withdrawn nothing stays on the device, and the page goes.
 * @param {string | null} reason
 */
export function sayEnd(reason) {
  if (reason === "withdrawn") {
    drafts.forgetAll();
    acknowledged.forget();
    location.reload();
  } else if (reason === "ended" || reason === "renewed" || reason === "revoked") sayTrouble(reason);
}

/**
 * What the server says in the place of an answer.
 * @param {string} html
 */
function reasonIn(html) {
  const answer = new DOMParser().parseFromString(html, "text/html");
  return answer.querySelector("[hx-swap-oob='innerHTML:#trouble'], .problem")?.textContent?.trim() ?? "";
}

/**
 * Both versions, where there is a place for them; otherwise what was written, to copy or to discard.
 * @param {Draft} draft
 * @param {Saver | undefined} saver
 * @param {Response} answer
 */
async function showRefused(draft, saver, answer) {
  const html = await answer.text();
  const target = answer.headers.get("HX-Retarget");
  if (answer.status === 409 && saver && (target || saver.dataset.of)) {
    // In the place of the form, or beside the field, which says what was written.
    if (saver.dataset.of) fill(saver, draft.fields);
    htmx.swap(target ?? saver, html, { swapStyle: target ? "outerHTML" : "none" });
    markFailed();
    return;
  }
  const reason = reasonIn(html);
  const refused = answer.status === 400 ? { ...draft, refused: reason } : draft;
  if (refused.refused) drafts.markRefused(draft, reason);
  if (answer.status === 400 && saver) putBack(saver, refused);
  else sayKept(refused, reason);
}

/**
 * The words are this page's from now on: in their field, under the server's reason, until they are changed.
 * @param {Saver} saver
 * @param {Draft} draft
 */
function putBack(saver, draft) {
  fill(saver, draft.fields);
  const { n } = queue.updateVersion(saver, wordsOf(draft.fields));
  if (drafts.keep(draft.path, n, draft.fields, draft.refused)) drafts.drop(draft);
  queue.settledDrafts.add(drafts.keyOf({ n }));
  problemOf(saver)?.replaceChildren(draft.refused ?? "");
  markFailed();
}

/**
 * What was written and has no place on this page, to copy or to discard.
 * @param {Draft} draft
 * @param {string} reason why it is not saved; empty: it was changed elsewhere
 */
function sayKept(draft, reason) {
  const written = draft.fields.filter(([name]) => /^(rationale|answer-)/.test(name));
  sayTrouble("kept", (words) => {
    if (reason) words.querySelector("[data-why]")?.replaceChildren(reason);
    words.querySelector("a")?.setAttribute("href", draft.path);
    words.querySelector("blockquote")?.replaceChildren(written.map(([, value]) => value).join("\n"));
    words.querySelector("button")?.setAttribute("data-discards", draft.path);
  });
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-discards]");
  if (!button) return;
  drafts.forget(button.dataset.discards);
  acknowledged.forget(button.dataset.discards);
  clearTrouble();
});
// Of two versions the saved one is kept: then the other is no draft any more. Listen on the way down: of a form within
// a form, as on a page of several questions, browsers let "submit" bubble no further than the outer one.
document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !("forgets" in form.dataset)) return;
    const { pathname } = new URL(form.action);
    drafts.forget(pathname);
    acknowledged.forget(pathname);
  },
  true,
);

// ── The token of the forms ──

/**
 * The cookies have changed under the page: somebody came in again, or logged in as staff, in another window. Its forms
 * get the token that goes with the new ones; where there is none to get, the session has ended.
 */
export async function renewToken() {
  if (queue.isTokenRenewed) return;
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT);
  const answer = await fetch(location.pathname, { redirect: "manual", signal }).catch(() => null);
  if (answer?.type === "opaqueredirect" || answer?.status === 401) sayTrouble("ended");
  else if (answer?.status === 404) sayTrouble("foreign");
  else if (!answer?.ok) sayTrouble("unreached");
  const html = answer?.ok ? await answer.text() : "";
  const token = tokensIn(new DOMParser().parseFromString(html, "text/html"))[0]?.value;
  if (!token) return;
  queue.isTokenRenewed = true;
  for (const field of tokensIn(document)) field.value = token;
  retryAll();
}

/** @param {Document} page */
function tokensIn(page) {
  /** @type {NodeListOf<HTMLInputElement>} */
  const fields = page.querySelectorAll("[name=csrfmiddlewaretoken]");
  return [...fields];
}
