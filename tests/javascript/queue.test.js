// What is saved when, and what an answer to a save means, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AUTOSAVE_DELAY,
  LONGEST_AUTOSAVE_DELAY,
  LONGEST_RETRY_DELAY,
  RETRY_DELAYS,
} from "../../static/quire/autosave/delays.js";
import { codeOf, isTaken, outcomeOf, SaveQueue, waitOf } from "../../static/quire/autosave/queue.js";

const OURS = "1"; // what the server signs with

/** A queue with one form whose first words have been numbered. */
function begin() {
  const queue = new SaveQueue();
  const form = { name: "item 1" };
  const version = queue.updateVersion(form, "first words");
  return { queue, form, version };
}

/** What sends a saver as the page does, and what it has sent. */
function noteSent(queue) {
  const sent = [];
  const send = (saver) => {
    queue.cancel(saver);
    sent.push(saver);
  };
  return { sent, send };
}

const request = (readyState = 1) => ({ readyState });

// ── When ──

test("words are sent once, some time after the last stroke", (t) => {
  t.mock.timers.enable();
  const { queue, form } = begin();
  const { sent, send } = noteSent(queue);

  queue.schedule(form, send);
  t.mock.timers.tick(AUTOSAVE_DELAY - 1);
  queue.schedule(form, send);
  t.mock.timers.tick(AUTOSAVE_DELAY - 1);
  assert.deepEqual(sent, []);
  assert.ok(queue.isPending());
  t.mock.timers.tick(1);

  assert.deepEqual(sent, [form]);
  assert.ok(!queue.isPending());
});

test("words of somebody who never pauses are sent too, and what is typed on later", (t) => {
  t.mock.timers.enable();
  const { queue, form } = begin();
  const { sent, send } = noteSent(queue);

  for (let ms = 0; ms < 2.5 * LONGEST_AUTOSAVE_DELAY; ms += 100) {
    queue.schedule(form, send);
    t.mock.timers.tick(100);
  }

  assert.equal(sent.length, 2);
});

test("a field that was left is sent by its own event and not once more", (t) => {
  t.mock.timers.enable();
  const { queue, form } = begin();

  queue.schedule(form, () => assert.fail("sent a second time"));
  queue.cancel(form);
  t.mock.timers.tick(AUTOSAVE_DELAY * 2);

  assert.ok(!queue.isPending());
});

test("two forms wait for themselves alone", (t) => {
  t.mock.timers.enable();
  const { queue, form } = begin();
  const sent = [];

  queue.schedule(form, () => sent.push("first"));
  t.mock.timers.tick(AUTOSAVE_DELAY / 2);
  queue.schedule({}, () => sent.push("second"));
  t.mock.timers.tick(AUTOSAVE_DELAY / 2);

  assert.deepEqual(sent, ["first"]);
});

test("a save that fails is tried again after longer and longer, then every half minute", () => {
  const { queue, form } = begin();

  const delays = Array.from({ length: 7 }, () => queue.refuse(form, "page-1", 503).delay);

  assert.deepEqual(delays, [...RETRY_DELAYS, LONGEST_RETRY_DELAY, LONGEST_RETRY_DELAY]);
  assert.deepEqual(RETRY_DELAYS, [2000, 4000, 8000, 15_000, 30_000]);
});

test("after a save that was taken the delays begin anew", () => {
  const { queue, form, version } = begin();
  queue.refuse(form, "page-1", 503);
  queue.refuse(form, "page-1", 503);

  queue.accept(form, version.n);

  assert.equal(queue.refuse(form, "page-2", 503).delay, RETRY_DELAYS[0]);
});

// ── What is one save ──

test("the same words are the same save, other words are another", () => {
  const { queue, form, version } = begin();

  assert.equal(queue.updateVersion(form, "first words"), version);
  assert.equal(queue.updateVersion(form, "second words").n, version.n + 1);
  assert.equal(queue.updateVersion({}, "first words").n, version.n + 2, "numbers belong to the page, not to a form");
  assert.equal(queue.nextNumber(), version.n + 3);
});

test("only the words that were sent are committed", () => {
  const { queue, form, version } = begin();
  queue.updateVersion(form, "first words and more");

  queue.accept(form, version.n);
  assert.ok(!queue.isCommitted(form), "more was written while the save was on its way");
  queue.accept(form, version.n + 1);

  assert.ok(queue.isCommitted(form));
});

test("a form holds a draft when it says the same or something newer", () => {
  const { queue, form, version } = begin();

  assert.ok(queue.holds(form, version.n));
  assert.ok(!queue.holds(form, version.n + 1));
  assert.ok(!queue.holds({}, version.n), "a form that was opened again");
  assert.ok(!queue.holds(undefined, version.n), "a form that is gone");
});

// ── What an answer means ──

test("only an answer with our signature takes a save or refuses it for good", () => {
  for (const status of [200, 204, 302, 400, 409]) {
    assert.equal(codeOf(status, OURS), status);
    assert.equal(codeOf(status, null), 502, `${status} of a hotel's sign-in page`);
  }
  for (const status of [0, 401, 403, 404, 500, 503]) assert.equal(codeOf(status, null), status);
});

test("an answer that only says where to go has taken the save", () => {
  assert.deepEqual([200, 204, 303, 400, 409, 502, 0].map(isTaken), [true, true, true, false, false, false, false]);
});

test("a conflict and an invalid answer are final: sending the same again would change nothing", () => {
  for (const code of [400, 409]) {
    const { queue, form } = begin();
    queue.refuse(form, "page-1", 503);

    assert.deepEqual(queue.refuse(form, "page-1", code), { isFinal: true });

    assert.ok(queue.settledDrafts.has("page-1"), "nor is its draft sent");
    assert.equal(queue.pageState(), "saved", "nothing is left to be tried again");
  }
});

test("a lost connection says whether the device has kept the words", () => {
  const { queue, form, version } = begin();

  version.isKept = true;
  assert.equal(queue.refuse(form, "page-1", 0).state, "offline");
  version.isKept = false;
  assert.equal(queue.refuse(form, "page-1", 0).state, "lost");
  assert.equal(queue.refuse(form, "page-1", 401).state, "failed");
});

test("what came too fast is sent again when the server said, and says that it waits", () => {
  const { queue, form, version } = begin();
  version.isKept = true;
  queue.refuse(form, "page-1", 503);

  assert.deepEqual(queue.refuse(form, "page-1", 429, "3"), { isFinal: false, state: "waiting", delay: 3000 });
  assert.equal(queue.pageState(), "waiting");
  assert.ok(!queue.settledDrafts.has("page-1"), "its draft stays");
  assert.equal(queue.refuse(form, "page-1", 503).delay, RETRY_DELAYS[1], "waiting is no failed try");

  version.isKept = false;
  assert.equal(queue.refuse(form, "page-1", 429, "3").state, "failed", "not kept on the device");

  queue.accept(form, version.n);
  assert.equal(queue.pageState(), "saved");
});

test("a wait is at least a second and at most half a minute, and only after too many", () => {
  assert.deepEqual(
    [null, "", "0", "2", "600", "Sun, 22 Nov 2026 07:00:00 GMT"].map((header) => waitOf(429, header)),
    [1000, 1000, 1000, 2000, LONGEST_RETRY_DELAY, 1000],
  );
  assert.deepEqual(
    [200, 409, 503, 0].map((code) => waitOf(code, "2")),
    [0, 0, 0, 0],
  );
});

test("of a draft, the code says what becomes of it", () => {
  const outcomes = [200, 204, 404, 400, 409, 0, 401, 403, 502].map(outcomeOf);

  assert.deepEqual(outcomes, [
    "taken",
    "taken",
    "foreign",
    "refused",
    "refused",
    "undelivered",
    "undelivered",
    "undelivered",
    "undelivered",
  ]);
});

// ── The page as a whole ──

test("saved is said of the page only when nothing is on its way and nothing has failed", () => {
  const { queue, form } = begin();
  assert.equal(queue.pageState(), "saved");

  const slow = request();
  queue.requests.set(slow, {});
  assert.equal(queue.pageState(), "saving");

  queue.nUndelivered = 1;
  assert.equal(queue.pageState(), "failed", "a draft of another page");

  queue.refuse(form, "page-1", 0);
  assert.equal(queue.pageState(), "lost", "what a form of this page has to say comes first");
});

test("a request that ended unheard, its form gone, is not waited for", () => {
  const { queue } = begin();
  queue.requests.set(request(4), {});

  assert.ok(!queue.isPending());
  assert.equal(queue.requests.size, 0);
});

test("a delivery that took all that was waiting says so, unless something else is not saved", () => {
  const { queue, form } = begin();

  assert.deepEqual(queue.closeDelivery([]), { isIncomplete: false, isCompleteAtLast: false, mustReload: false });
  assert.ok(queue.closeDelivery(["taken", "undelivered"]).isIncomplete);
  assert.equal(queue.nUndelivered, 1);
  assert.ok(queue.closeDelivery(["taken"]).isCompleteAtLast);

  queue.closeDelivery(["undelivered"]);
  assert.ok(!queue.closeDelivery(["refused"]).isCompleteAtLast, "a refused draft is not called saved");

  queue.closeDelivery(["undelivered"]);
  queue.refuse(form, "page-1", 503);
  assert.ok(!queue.closeDelivery(["taken"]).isCompleteAtLast, "a form of this page has failed");
});

test("a page that shows older answers is loaded anew, but not under somebody's hands or on the way out", () => {
  const { queue } = begin();
  assert.ok(queue.closeDelivery(["outdated"]).mustReload);

  const slow = request();
  queue.requests.set(slow, {});
  assert.ok(!queue.closeDelivery(["outdated"]).mustReload);
  queue.requests.clear();
  queue.isLeaving = true;

  assert.ok(!queue.closeDelivery(["outdated"]).mustReload);
});

// ── Leaving ──

const LINK = { isSubmitting: false, isReview: false };
const SUBMIT = { isSubmitting: true, isReview: true };

test("leaving waits for what is pending, and submitting for drafts on their way too", () => {
  const { queue } = begin();
  assert.ok(!queue.mustWait(LINK));

  queue.nDeliveries = 1;
  assert.deepEqual([queue.mustWait(LINK), queue.mustWait(SUBMIT)], [false, true]);

  queue.requests.set(request(), {});
  assert.ok(queue.mustWait(LINK));
});

test("all waiting has an end", () => {
  const { queue } = begin();
  queue.requests.set(request(), {});
  queue.nDeliveries = 1;

  queue.isReleased = true;

  assert.deepEqual([queue.mustWait(LINK), queue.mustWait(SUBMIT)], [false, false]);
});

test("who submits while something is not saved is warned once", () => {
  const { queue } = begin();
  queue.nUndelivered = 1;
  assert.ok(queue.mustWait(SUBMIT) && queue.mustWarn(SUBMIT));
  assert.ok(!queue.mustWarn(LINK) && !queue.mustWarn({ isSubmitting: true, isReview: false }));

  queue.isWarned = true;

  assert.ok(!queue.mustWait(SUBMIT) && !queue.mustWarn(SUBMIT));
});

test("closing the page asks only where the device has kept nothing", () => {
  const { queue, form, version } = begin();
  queue.refuse(form, "page-1", 503);

  version.isKept = true;
  assert.ok(!queue.isAtRisk());
  version.isKept = false;
  assert.ok(queue.isAtRisk());

  queue.accept(form, version.n);
  assert.ok(!queue.isAtRisk());
  queue.requests.set(request(), form);
  assert.ok(queue.isAtRisk(), "on its way is not saved yet");
});
