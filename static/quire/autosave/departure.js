// Leaving the page: it waits for what is still to be saved, and takes what it has with it.

import { DEPARTURE_LIMIT, LONGEST_RETRY_DELAY } from "./delays.js";
import { send } from "./delivery.js";
import * as drafts from "./drafts.js";
import { isReview } from "./forms.js";
import { queue } from "./queue.js";
import { say, sayTrouble } from "./status.js";

const LOOK_AGAIN = 30; // milliseconds

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

document.addEventListener(
  "click",
  async (event) => {
    const exit = event.target.closest("a[href]:not([target]), form[data-leaves] button:not([type=button])");
    if (!exit || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const departure = { isSubmitting: exit.matches("button"), isReview: isReview() };
    if (!queue.mustWait(departure)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    await saveAll();
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
