// What is said of saving: one line in the masthead, and above the questions what went wrong and what to do. The line is
// for the eye; of what it says, a region beside it announces the little that must be heard.
import { Announcer } from "./announcements.js";
import { queue } from "./queue.js";

const status = document.getElementById("status");
const region = document.getElementById("status-announced");
const announcer = new Announcer();

/** @param {import("./queue.js").PageState} state */
function announce(state) {
  const detail = status?.querySelector("[data-detail]")?.textContent ?? "";
  const saved = [status?.dataset.done, detail].filter(Boolean).join(", ");
  const announced = announcer.take(state, state === "saved" ? saved : (status?.textContent ?? ""), detail);
  if (region && announced) region.textContent = announced;
}
const trouble = () => document.getElementById("trouble");

/** @param {string} id */
function copyOf(id) {
  const template = /** @type {HTMLTemplateElement | null} */ (document.getElementById(id));
  return template && /** @type {DocumentFragment} */ (template.content.cloneNode(true));
}

/**
 * Say a state in the words that the page brought for it.
 * @param {Exclude<import("./queue.js").PageState, "saved">} state
 */
export function say(state) {
  if (!status) return;
  // For the eye, words that are lost or that wait are offline too.
  status.dataset.state = state === "lost" || state === "waiting" ? "offline" : state;
  const words = status.dataset[state];
  if (words && status.textContent !== words) status.textContent = words;
  announce(state);
  if (state === "failed") status.append(", ", copyOf("retry") ?? "");
}

/** Whether nothing went wrong and no request is out. */
export const isQuiet = () => ["idle", "saved", "kept", "open"].includes(status?.dataset.state ?? "");
/** Whether something is said to be on its way to the server, or to wait for it. */
export const isUnderWay = () => ["saving", "kept", "open"].includes(status?.dataset.state ?? "");

export function sayDone() {
  if (!status) return;
  const now = new Date().toLocaleTimeString(document.body.dataset.locale, { hour: "2-digit", minute: "2-digit" });
  status.textContent = `${status.dataset.done} ${now}`;
  status.dataset.state = "saved";
  announce("saved");
}

/** The state of the page as a whole: after a stroke, and after a save that was taken. */
export function sayPageState() {
  if (!status) return;
  const state = queue.pageState();
  if (state !== "saved") {
    say(state);
    return;
  }
  // The words came with the answer, but for one that only says where to go.
  const { saving, kept, open } = status.dataset;
  if (isUnderWay() && [saving, kept, open].includes(status.textContent ?? "")) sayDone();
  status.dataset.state = "saved";
  announce("saved");
}

/** The words stay, in the colour of what failed; where there are none, that it is not saved. */
export function markFailed() {
  if (!status) return;
  status.dataset.state = "failed";
  if (!status.textContent) status.textContent = status.dataset.failed ?? "";
  announce("failed");
}

/** After a save that was refused: the answer has said why; if it has not, that it is not saved. */
export function sayRefused() {
  if (!status) return;
  if (status.textContent === status.dataset.saving) status.textContent = status.dataset.failed ?? "";
  markFailed();
}

/** @param {string} [id] */
export const saysTrouble = (id) => {
  const place = trouble();
  return Boolean(place?.childElementCount) && (!id || place?.dataset.says === id);
};

/**
 * Say what went wrong and what to do, in the words of a template; what is said already is not said again.
 * @param {"ended" | "renewed" | "revoked" | "foreign" | "unreached" | "disconnected" | "postponed" | "kept"} id
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
/**
 * The same in the server's words.
 * @param {string} words
 */
export function saySentence(words) {
  const sentence = document.createElement("p");
  sentence.textContent = words;
  trouble()?.replaceChildren(sentence);
}
export const clearTrouble = () => trouble()?.replaceChildren();
