// Leaving the page: it waits for what is still to be saved, and takes what it has with it.

import { DEPARTURE_LIMIT, LONGEST_RETRY_DELAY } from "./delays.js";
import { send } from "./delivery.js";
import * as drafts from "./drafts.js";
import { isReview } from "./forms.js";
import { queue } from "./queue.js";
import { clearTrouble, say, saysTrouble, sayTrouble } from "./status.js";

const LOOK_AGAIN = 30; // milliseconds
// Pages of a few sentences save nothing: each of their forms leads to another page.
const EXITS = "a[href]:not([target]), form:is([data-leaves], .plain-page *) button:not([type=button])";

/** Resolves when everything has been sent and answered, or after a while. */
function saveAll() {
  for (const saver of [...queue.timers.keys()]) send(saver);
  const deadline = Date.now() + DEPARTURE_LIMIT;
  const requestsDone = new Promise((resolve) => {
    const look = () => (!queue.isSending() || Date.now() > deadline ? resolve(null) : setTimeout(look, LOOK_AGAIN));
    setTimeout(look, 0);
  });
  const limit = new Promise((resolve) => setTimeout(resolve, DEPARTURE_LIMIT));
  return Promise.race([Promise.all([requestsDone, queue.delivery]), limit]);
}

/** @param {HTMLElement} exit a link or a button */
function opensPage(exit) {
  if (!(exit instanceof HTMLAnchorElement)) return true;
  return exit.origin === location.origin && exit.pathname !== location.pathname;
}

/** Asked of a browser that says it is offline: a server on the same machine is reached without a network, too. */
async function isServerReached() {
  try {
    await fetch(import.meta.url, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(DEPARTURE_LIMIT) });
  } catch {
    return false;
  }
  return true;
}

// Offline a page that cannot be opened would be the browser's own page of errors, in the place of this one.
addEventListener("online", () => saysTrouble("disconnected") && clearTrouble());

document.addEventListener(
  "click",
  async (event) => {
    const exit = event.target.closest(EXITS);
    if (!exit || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const departure = { isSubmitting: exit.matches("button"), isReview: isReview() };
    const isOffline = !navigator.onLine && !queue.isReleased && opensPage(exit);
    if (!queue.mustWait(departure) && !isOffline) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    await saveAll();
    if (isOffline && !(await isServerReached())) {
      say("offline");
      sayTrouble("disconnected");
      return;
    }
    if (queue.mustWarn({ ...departure, isReview: isReview() })) {
      queue.isWarned = true;
      say("failed");
      sayTrouble("unreached");
      return;
    }
    queue.isReleased = true;
    exit.click();
    queue.isReleased = false;
  },
  true,
);

// A page that is closed sends what it has; whether that arrived, the next page finds out.
addEventListener("pagehide", () => {
  for (const draft of drafts.mine()) {
    if (!queue.settledDrafts.has(drafts.keyOf(draft))) navigator.sendBeacon(draft.path, drafts.body(draft));
  }
});

// Only where the device keeps nothing does leaving need a question.
addEventListener("beforeunload", (event) => {
  queue.isLeaving = true;
  setTimeout(() => {
    queue.isLeaving = false;
  }, LONGEST_RETRY_DELAY); // who is still on the page has stayed
  if (queue.isAtRisk()) event.preventDefault();
});
