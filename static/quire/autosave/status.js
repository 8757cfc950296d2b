// What is said of saving: one line in the masthead, and above the questions what went wrong and what to do.
import { queue } from "./queue.js";

const status = document.getElementById("status");
const trouble = () => document.getElementById("trouble");

/** @param {string} id */
function copyOf(id) {
  const template = /** @type {HTMLTemplateElement | null} */ (document.getElementById(id));
  return template && /** @type {DocumentFragment} */ (template.content.cloneNode(true));
}

/**
 * Say a state in the words that the page brought for it.
 * @param {"saving" | "failed" | "offline" | "lost" | "waiting"} state
 */
export function say(state) {
  if (!status) return;
  // For the eye, words that are lost or that wait are offline too.
  status.dataset.state = state === "lost" || state === "waiting" ? "offline" : state;
  if (status.dataset[state]) status.textContent = status.dataset[state];
  if (state === "failed") status.append(", ", copyOf("retry") ?? "");
}

export const isSaved = () => status?.dataset.state === "saved";
export const isSaving = () => status?.dataset.state === "saving";

export function sayDone() {
  if (!status) return;
  const now = new Date().toLocaleTimeString(document.body.dataset.locale, { hour: "2-digit", minute: "2-digit" });
  status.textContent = `${status.dataset.done} ${now}`;
  status.dataset.state = "saved";
}

/** After a save that was taken: the state of the page as a whole. */
export function sayPageState() {
  if (!status) return;
  // The words came with the answer, but for one that only says where to go.
  if (isSaving() && status.textContent === status.dataset.saving) sayDone();
  const state = queue.pageState();
  if (state === "saved") status.dataset.state = "saved";
  else say(state);
}

/** The words stay, in the colour of what failed; where there are none, that it is not saved. */
export function markFailed() {
  if (!status) return;
  status.dataset.state = "failed";
  if (!status.textContent) status.textContent = status.dataset.failed ?? "";
}

/** After a save that was refused: the answer has said why; if it has not, that it is not saved. */
export function sayRefused() {
  if (!status) return;
  markFailed();
  if (status.textContent === status.dataset.saving) status.textContent = status.dataset.failed ?? "";
}

/** @param {string} [id] */
export const saysTrouble = (id) => {
  const place = trouble();
  return Boolean(place?.childElementCount) && (!id || place?.dataset.says === id);
};

/**
 * Say what went wrong and what to do, in the words of a template; what is said already is not said again.
 * @param {"ended" | "foreign" | "unreached" | "disconnected" | "postponed" | "kept"} id
 * @param {(words: DocumentFragment) => void} complete
 */
export function sayTrouble(id, complete = () => {}) {
  const words = copyOf(id);
  const place = trouble();
  if (!words || !place || (id !== "kept" && saysTrouble(id))) return;
  place.dataset.says = id;
  complete(words);
  place.replaceChildren(words);
}
export const clearTrouble = () => trouble()?.replaceChildren();
