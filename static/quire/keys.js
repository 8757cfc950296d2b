// Keys of one letter or sign: only outside of text fields, and not at all if a reader has switched them off.

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

document.addEventListener("keydown", (event) => {
  if (document.documentElement.dataset.keys === "off" || event.defaultPrevented || event.isComposing) return;
  // A key that is held down would go through question after question.
  if (event.repeat) return;
  // Where a sign takes AltGr, browsers report Ctrl and Alt as well.
  if ((event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph")) return;
  if (event.target.closest(TEXT) || document.querySelector("dialog[open]") || form()?.inert) return;
  const key = event.key.toLowerCase();
  if (/^[0-9]$/.test(key)) {
    controlAt(key)?.click();
    return;
  }
  const answer = form()?.querySelector(`[data-key="${CSS.escape(key)}"]:enabled`);
  if (!answer && !Object.hasOwn(actions, key)) return;
  event.preventDefault();
  if (answer) answer.click();
  else actions[key]();
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-opens=keys]")) help?.showModal();
});
