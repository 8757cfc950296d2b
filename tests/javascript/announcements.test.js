// What is announced of saving (static/quire/autosave/announcements.js).
import assert from "node:assert/strict";
import { test } from "node:test";

import { Announcer } from "../../static/quire/autosave/announcements.js";

/** @param {[import("../../static/quire/autosave/queue.js").PageState, string, string?][]} states */
function announced(states) {
  const announcer = new Announcer();
  return states.map(([state, words, detail]) => announcer.take(state, words, detail)).filter(Boolean);
}

test("of saves that go well, the first one is announced", () => {
  const states = [
    ["kept", "Kept on this device"],
    ["saving", "Saving…"],
    ["saved", "Saved"],
    ["kept", "Kept on this device"],
    ["saving", "Saving…"],
    ["saved", "Saved"],
  ];

  assert.deepEqual(announced(states), ["Saved"]);
});

test("a failure is announced once, and that it is saved after all", () => {
  const states = [
    ["saved", "Saved"],
    ["failed", "Not saved"],
    ["saving", "Saving…"],
    ["failed", "Not saved"],
    ["offline", "Offline, kept on this device"],
    ["saving", "Saving…"],
    ["saved", "Saved"],
    ["saved", "Saved"],
    ["failed", "Not saved"],
  ];

  assert.deepEqual(announced(states), ["Saved", "Not saved", "Offline, kept on this device", "Saved", "Not saved"]);
});

test("blanks that are to be checked are announced as they change", () => {
  const states = [
    ["saved", "Saved"],
    ["saved", "Saved, 1 to check", "1 to check"],
    ["saved", "Saved, 1 to check", "1 to check"],
    ["saved", "Saved"],
  ];

  assert.deepEqual(announced(states), ["Saved", "Saved, 1 to check", "Saved"]);
});
