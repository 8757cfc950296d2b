// Saving as one answers. htmx posts an item, or a field of a cloze; this joins what happens on the page to
//   queue.js      what is saved when, and what an answer means; all state
//   delays.js     how long it waits: the delay after the last stroke, the delays of further tries
//   forms.js      what a form says, and putting words back into it
//   drafts.js     what is not yet committed, kept on the device
//   acknowledged.js  what the server says to have, kept until it is submitted
//   delivery.js   what failed, sent again
//   departure.js  leaving the page
//   revisions.js  what a page showed before the browser came back to it
//   status.js     what is said of it all

import * as acknowledged from "./acknowledged.js";
import { REQUEST_TIMEOUT } from "./delays.js";
import { deliverDrafts, renewToken, retryAll, sayEnd, send } from "./delivery.js";
import * as drafts from "./drafts.js";
import {
  allSavers,
  baseOf,
  clearPaste,
  fieldsOf,
  hasAltered,
  namesIn,
  notePaste,
  pastedIn,
  pathOf,
  problemOf,
  saverOf,
  wordsOf,
} from "./forms.js";
import "./departure.js";
import { codeOf, GONE, isTaken, queue, REASON, REVISION, SIGNATURE } from "./queue.js";
import * as revisions from "./revisions.js";
import { isQuiet, isUnderWay, say, sayPageState, sayRefused, sayTrouble } from "./status.js";

/** @typedef {import("./forms.js").Saver} Saver */
const CONFLICT = 409;
// What a save carries beside the answer.
const UNKEPT = new Set(["csrfmiddlewaretoken", "key", "go"]);

/**
 * Number what a saver now says, and keep it on the device until the server has it.
 * @param {Saver} saver
 */
function keep(saver) {
  const fields = fieldsOf(saver);
  const version = queue.updateVersion(saver, wordsOf(fields));
  if (version.isCommitted) return version;
  const isKept = () => drafts.keep(pathOf(saver), version.n, fields);
  version.isKept = isKept() || (acknowledged.forget() && isKept()); // where there is no room, these make some
  return version;
}

// ── As one types: some time after the last stroke, and at once when the field is left (that is "change") ──

document.addEventListener("input", (event) => {
  const saver = saverOf(event.target);
  if (!saver) return;
  keep(saver);
  if (!event.target.matches("textarea, input[type=text]")) return;
  queue.schedule(saver, send);
  if (isQuiet()) sayPageState();
});
document.addEventListener("paste", (event) => {
  notePaste(event.target, event.clipboardData?.getData("text").length ?? 0);
});
for (const type of /** @type {const} */ (["change", "submit"])) {
  document.addEventListener(
    type,
    (event) => {
      const saver = saverOf(event.target);
      if (saver) queue.cancel(saver);
    },
    true,
  );
}

// A page that is posted as a whole is a save too, under a name of its own.
document.addEventListener("submit", (event) => {
  const key = event.target.querySelector(".form-end [name=key]");
  if (key instanceof HTMLInputElement) key.value = drafts.keyOf({ n: queue.nextNumber() });
});

// ── Going on: from the press until the next question stands there, nothing else happens to this one ──

document.addEventListener(
  "submit",
  (event) => {
    const saver = saverOf(event.target);
    if (!saver || event.submitter?.getAttribute("name") !== "go") return;
    queue.moves.add(saver);
    saver.inert = true;
  },
  true,
);
// The move takes along what the field says; a save of its own would take the place of the move.
document.addEventListener(
  "change",
  (event) => {
    const saver = saverOf(event.target);
    if (saver && queue.moves.has(saver)) event.stopPropagation();
  },
  true,
);

// ── One save, from htmx's request to its answer ──

/** @type {WeakSet<HTMLElement>} sent once more with their latest words, so that both versions can be shown */
const resends = new WeakSet();

/** @typedef {CustomEvent<HtmxDetail>} HtmxEvent */

// When the saver has left the page, htmx names another element as the event's; that of the request stays.
/** @param {HtmxEvent} event */
const requestOf = (event) => event.detail.requestConfig ?? event.detail;
/** @param {HtmxEvent} event */
const isSave = (event) => requestOf(event).elt?.matches?.("[data-saves]");

document.addEventListener("htmx:configRequest", (event) => {
  if (!isSave(event)) return;
  const { elt, parameters, triggeringEvent } = event.detail;
  const isButton = elt.matches("button");
  event.detail.timeout = REQUEST_TIMEOUT;
  event.detail.n = isButton ? queue.nextNumber() : keep(/** @type {Saver} */ (elt)).n;
  // Every save has a name of its own, so that one that arrives twice counts once.
  parameters.set("key", drafts.keyOf({ n: event.detail.n }));
  // htmx adds the button that has the focus when a save's turn comes. Only one that was pressed says where to go.
  parameters.delete("go");
  const pressed = triggeringEvent?.submitter;
  if (pressed?.name === "go") parameters.set("go", pressed.value);
  if (elt.matches("div")) keepOnly(namesIn(elt), parameters);
  if (isButton || elt.matches("form") || !queue.isCommitted(elt)) return;
  event.preventDefault();
  if (isUnderWay()) sayPageState();
});

/**
 * htmx sends along the whole form that an item stands in; of a page of several each item is saved by itself.
 * @param {Set<string>} names
 * @param {FormData} parameters
 */
function keepOnly(names, parameters) {
  const others = Object.keys(parameters).filter((name) => !names.has(name));
  for (const name of others) if (!["csrfmiddlewaretoken", "key"].includes(name)) parameters.delete(name);
}
document.addEventListener("htmx:beforeSend", (event) => {
  if (!isSave(event)) return;
  queue.requests.set(event.detail.xhr, requestOf(event).elt);
  say("saving");
});
document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (!isSave(event)) return;
  if (event.detail.xhr.getResponseHeader(SIGNATURE) === null) event.preventDefault();
  if (showsVersions(event.detail.xhr) && hasNewer(event)) event.preventDefault();
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (!isSave(event)) return;
  const { elt, n, parameters } = requestOf(event);
  const { xhr } = event.detail;
  const reason = xhr.getResponseHeader(REASON);
  const code = codeOf(xhr.status, xhr.getResponseHeader(SIGNATURE), reason);
  queue.requests.delete(xhr);
  const isMove = Boolean(parameters.go);
  if (isMove) queue.moves.delete(elt);
  if (resends.delete(elt)) elt.inert = false;
  // Of an answer that only says where to go, htmx does not say that it was a success.
  if (isTaken(code)) {
    const fields = /** @type {import("./forms.js").Field[]} */ ([...parameters.entries()]);
    const draft = { path: pathOf(elt), page: drafts.PAGE, n, fields: fields.filter(([name]) => !UNKEPT.has(name)) };
    if (!elt.matches("button")) acknowledged.note(draft, xhr.getResponseHeader(REVISION));
    accept(elt, n, pastedIn(elt, parameters));
    return;
  }
  if (isMove) elt.inert = false;
  // Both versions are shown with the latest of what was written here: that is sent first, and nothing is added to it.
  if (showsVersions(xhr) && hasNewer(event)) {
    resends.add(elt);
    elt.inert = true;
    send(/** @type {Saver} */ (elt));
    return;
  }
  refuse(elt, n, { code, reason, retryAfter: xhr.getResponseHeader("Retry-After") });
  if (isMove && !navigator.onLine) sayTrouble("disconnected");
});

/**
 * Whether the answer is a panel of two versions; a study that is paused or closed refuses with the same status.
 * @param {HtmxDetail["xhr"]} xhr
 */
const showsVersions = (xhr) => xhr.status === CONFLICT && xhr.getResponseHeader("HX-Retarget") !== null;

/**
 * Whether an item says by now something else than what was sent.
 * @param {HtmxEvent} event
 */
function hasNewer(event) {
  const { elt, n } = requestOf(event);
  return !("of" in elt.dataset) && elt.isConnected && keep(elt).n > n;
}

/**
 * @param {HTMLElement} saver
 * @param {number} n
 * @param {number} nPasted
 */
function accept(saver, n, nPasted) {
  queue.accept(saver, n);
  drafts.drop({ path: pathOf(saver), n });
  clearPaste(saver, nPasted);
  revisions.note();
  sayPageState();
}

/**
 * @param {HTMLElement} saver
 * @param {number} n
 * @param {{ code: number, reason: string | null, retryAfter: string | null }} answer
 */
function refuse(saver, n, { code, reason, retryAfter }) {
  const refusal = queue.refuse(saver, drafts.keyOf({ n }), code, retryAfter);
  if (refusal.isFinal) {
    const problem = code === 400 && problemOf(saver)?.textContent?.trim();
    if (problem) drafts.markRefused({ path: pathOf(saver), n }, problem);
    sayRefused();
    if (code === GONE) sayEnd(reason);
    return;
  }
  say(refusal.state);
  if (code === 401) sayEnd(reason);
  else if (code === 403) renewToken();
  else if (code === 404) sayTrouble("foreign");
  else if (code === 429 && refusal.state === "waiting") sayTrouble("postponed");
  else if (refusal.state === "failed") sayTrouble("unreached");
  setTimeout(() => {
    if (!queue.failures.has(saver)) return;
    if (saver.isConnected) send(saver);
    else retryAll();
  }, refusal.delay);
}

// ── When a page or a question arrives ──

// Whoever has withdrawn leaves nothing on the device either.
if (document.querySelector("[data-forgets-all]")) {
  drafts.forgetAll();
  acknowledged.forget();
}

/** @type {NodeListOf<HTMLElement>} */
const promises = document.querySelectorAll("[data-promises]");
for (const promise of promises) promise.hidden = false;

// What was answered before this script was there: nobody has heard of it yet. What a browser remembers looks the same,
// and builds upon what the page showed then: where that is no longer what is saved, both versions are shown.
function catchUp() {
  for (const saver of allSavers()) {
    if (queue.versions.has(saver) || !hasAltered(saver)) continue;
    const base = baseOf(saver);
    if (base) base.value = revisions.shownBefore(saver) ?? base.value;
    keep(saver);
    queue.schedule(saver, send);
  }
  revisions.note();
}
catchUp();
addEventListener("pageshow", catchUp);
// The words of a question that has been left are no longer in a form; if they are not saved, they are delivered.
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id !== "questions") return;
  revisions.note();
  deliverDrafts();
});
deliverDrafts();
