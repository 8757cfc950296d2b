// Keys of one letter or sign: only outside of text fields, and not at all if a reader has switched them off.

import { queue } from "./autosave/queue.js";
import { turnTo } from "./display.js";
import { quoteOrChoose } from "./quotes.js";

const TEXT = "textarea, select, input:not([type=radio], [type=checkbox]), [contenteditable]";
/** @type {HTMLDialogElement | null} */
const help = document.querySelector("#keys");

// The item that keys are about: the one of the desk, or the one that has the focus.
function form() {
  return document.activeElement?.closest(".item[data-saves]") ?? document.querySelector(".reading form[data-saves]");
}
/** The radio buttons and check boxes that answer it. */
function controls() {
  /** @type {NodeListOf<HTMLInputElement> | undefined} */
  const all = form()?.querySelectorAll("fieldset:first-of-type :is([type=radio], [type=checkbox])");
  const isAnswer = (/** @type {HTMLInputElement} */ control) =>
    control.value !== "" && control.name.startsWith("answer-");
  return [...(all ?? [])].filter((control) => isAnswer(control) && !control.matches(":disabled"));
}

// On a scale the number itself, otherwise the first, second, third … answer.
/** @param {string} n */
function controlAt(n) {
  const all = controls();
  return all[0]?.closest(".points") ? all.find((control) => control.value === n) : all[Number(n) - 1];
}

/** @param {string} pane */
function enter(pane) {
  turnTo(pane);
  document.getElementById(pane)?.focus();
}

/** @type {Record<string, () => unknown>} */
const actions = {
  j: () => form()?.querySelector("[name=go][value=next]")?.click(),
  k: () => form()?.querySelector("[name=go][value=previous]")?.click(),
  q: () => document.getElementById("quoting") && quoteOrChoose(),
  "[": () => enter("story"),
  "]": () => enter("questions"),
  "?": () => help?.showModal(),
};

/**
 * Do what a key stands for at the question that is shown.
 * @param {string} key
 * @returns {boolean} whether it stands for something here
 */
function press(key) {
  const answer = /^[0-9]$/.test(key) ? controlAt(key) : answerAt(key);
  if (answer) answer.click();
  else if (Object.hasOwn(actions, key)) actions[key]();
  else return false;
  return true;
}
/**
 * The button or control that a question's own letter stands for.
 * @param {string} key
 * @returns {HTMLElement | null | undefined}
 */
const answerAt = (key) => form()?.querySelector(`[data-key="${CSS.escape(key)}"]:enabled`);

// ── Keys faster than the network: what is pressed on the way to the next question is for that one ──

/** @type {string[]} in the order in which they were pressed */
let keysAhead = [];
const isForNextQuestion = (/** @type {string} */ key) => /^[0-9jk]$/.test(key) || Boolean(answerAt(key));

// Each key waits until its question stands there; after one that means nothing there, none of the others is right.
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target?.id !== "questions") return;
  while (keysAhead.length && !form()?.inert) if (!press(keysAhead.shift() ?? "")) keysAhead = [];
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.successful) keysAhead = [];
});

// From the reasons on to the next question, whatever a reader has set: no letter is taken by it.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing || event.repeat) return;
  if (!event.target.matches(".item[data-saves] textarea")) return;
  event.preventDefault();
  actions.j();
});

document.addEventListener("keydown", (event) => {
  if (document.documentElement.dataset.keys === "off" || event.defaultPrevented || event.isComposing) return;
  // A key that is held down would go through question after question.
  if (event.repeat) return;
  // Where a sign takes AltGr, browsers report Ctrl and Alt as well.
  if ((event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph")) return;
  if (event.target.closest(TEXT) || document.querySelector("dialog[open]")) return;
  const [key, current] = [event.key.toLowerCase(), form()];
  if (!current?.inert) {
    if (press(key)) event.preventDefault();
  } else if (queue.moves.has(current) && isForNextQuestion(key)) keysAhead.push(key);
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-opens=keys]")) help?.showModal();
});
