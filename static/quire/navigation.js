// Going from question to question without leaving the page. Whatever goes wrong on the way, nobody is stuck.
import { say } from "./autosave/status.js";

const TIMEOUT = 15_000;
/** @type {HtmxDetail["xhr"] | null} for the question that was asked for last */
let latest = null;

// "Back" loads a page anew: what stands around the questions belongs to the scripts that began with it.
htmx.config.refreshOnHistoryMiss = true;
// A question that stands there answers at once: until it is settled, its form would be posted as without scripts.
htmx.config.defaultSettleDelay = 0;
// Of an element that was there before, htmx would carry on the style; of a field that was made larger by hand, that is
// an attribute, which the content policy refuses.
htmx.config.attributesToSettle = ["class", "width", "height"];

/** @param {CustomEvent<HtmxDetail>} event */
const isForQuestion = ({ detail }) =>
  detail.target?.id === "questions" && (detail.requestConfig ?? detail).verb === "get";

// On the way to another question a key or a click would still answer the one that is being left.
/** @param {boolean} isFrozen */
function freeze(isFrozen) {
  for (const form of document.querySelectorAll("#questions form[data-saves]")) form.inert = isFrozen;
}

document.addEventListener("htmx:configRequest", (event) => {
  if (isForQuestion(event)) event.detail.timeout = TIMEOUT;
});
// Of two questions asked for, the second is wanted, in whichever order they arrive.
document.addEventListener("htmx:beforeSend", (event) => {
  if (!isForQuestion(event)) return;
  freeze(true);
  const earlier = latest;
  latest = event.detail.xhr;
  earlier?.abort();
});
// Where the session has ended, the group was submitted in another window or a proxy apologises, the browser goes there
// itself, and shows what there is.
document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (!isForQuestion(event)) return;
  const { xhr, pathInfo } = event.detail;
  const isThere = new URL(xhr.responseURL).pathname === new URL(pathInfo.requestPath, location.href).pathname;
  if (xhr.status === 200 && isThere && xhr.responseText.includes('id="questions"')) return;
  event.preventDefault();
  location.assign(pathInfo.requestPath);
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (!isForQuestion(event) || event.detail.xhr !== latest) return;
  latest = null;
  if (event.detail.xhr.status) return;
  freeze(false);
  say("offline");
});
// htmx rejects a promise of its own, without a reason, whenever a connection is lost.
addEventListener("unhandledrejection", (event) => event.reason === undefined && event.preventDefault());

// The second click of a double click would be one on the next question.
document.addEventListener(
  "click",
  (event) => {
    if (event.detail < 2 || !event.target.closest("[name=go]")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  true,
);
