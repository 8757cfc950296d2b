// Saving as one answers. htmx posts the form of an item, or a field of a cloze; this says when, keeps what is not yet
// committed on the device (drafts.js), and says what has become of it.
import * as drafts from "./drafts.js";

const PAUSE = 800; // milliseconds after the last stroke
const PATIENCE = 8000; // how long leaving the page waits for a save
const TIMEOUT = 15_000; // how long a save may take
const AGAIN = [2000, 4000, 8000, 15_000, 30_000]; // when a save that failed is tried again
const LARGE = 200; // characters; a paste of so many is noted, as the consent says, and never blocked

const status = document.getElementById("status");
const trouble = () => document.getElementById("trouble");
const timers = new Map(); // saver → timer: typed, not yet sent
const failed = new Map(); // saver → how often in a row, and in which state that leaves the page
const notes = new WeakMap(); // saver → what was last written, the number of that save, who has it: device, server
const settledHere = new Set(); // drafts that this page has shown to be in conflict or refused
const underway = new Map(); // request → saver
let count = 0;
let returning = Promise.resolve();
let nReturns = 0; // deliveries of drafts that have not ended
let comingBack; // timer of the next
let nWaiting = 0; // drafts of the last delivery that the server could not take yet
let isLeaving = false;

// What saves: the form of an item, or a field of a cloze. A button saves too, but holds nothing to lose.
const saverOf = (element) => element.closest?.("[data-saves]");
const pathOf = (saver) => new URL(saver.getAttribute("hx-post"), location.href).pathname;
const saverAt = (path) => [...document.querySelectorAll("[data-saves]:not(button)")].find((s) => pathOf(s) === path);

function say(state) {
  if (!status) return;
  status.dataset.state = state;
  if (status.dataset[state]) status.textContent = status.dataset[state];
  if (state === "failed") status.append(", ", document.getElementById("retry").content.cloneNode(true));
}
function sayTrouble(id, fill = () => {}) {
  const words = document.getElementById(id)?.content.cloneNode(true);
  if (!words || !trouble()) return;
  fill(words);
  trouble().replaceChildren(words);
}

// What a saver now says, and the number of the save that says it: the same words are the same save.
function fieldsOf(saver) {
  const base = document.getElementById(`base-${saver.dataset.of}`)?.value ?? "0";
  const fields = saver.matches("form") ? [...new FormData(saver)] : [[saver.name, saver.value], ["base", base]];
  return fields.filter(([name]) => !["csrfmiddlewaretoken", "key", "go"].includes(name));
}
function note(saver) {
  const fields = fieldsOf(saver);
  const words = JSON.stringify(fields.filter(([name]) => name !== "base"));
  if (notes.get(saver)?.words !== words) notes.set(saver, { words, n: ++count });
  const said = notes.get(saver);
  if (!said.isCommitted) said.isKept = drafts.keep(pathOf(saver), said.n, fields);
  return said;
}

// A save as one types: some time after the last stroke, and at once when the field is left (that is "change").
document.addEventListener("input", (event) => {
  const saver = saverOf(event.target);
  if (!saver) return;
  note(saver);
  if (!event.target.matches("textarea, input[type=text]")) return;
  if (status?.dataset.state === "saved") say("saving");
  sendSoon(saver);
});
function sendSoon(saver) {
  clearTimeout(timers.get(saver));
  timers.set(saver, setTimeout(() => send(saver), PAUSE));
}
document.addEventListener("paste", (event) => {
  const pasted = event.target.form?.elements.pasted;
  const size = event.clipboardData?.getData("text").length ?? 0;
  if (pasted && event.target.name === "rationale" && size >= LARGE) pasted.value = Number(pasted.value) + size;
});
function send(saver) {
  clearTimeout(timers.get(saver));
  timers.delete(saver);
  if (saver.isConnected) saver.dispatchEvent(new CustomEvent("typed", { bubbles: true }));
}
for (const sent of ["change", "submit"]) {
  document.addEventListener(sent, (event) => {
    const saver = saverOf(event.target);
    clearTimeout(timers.get(saver));
    timers.delete(saver);
  }, true);
}

// Every save has a name of its own, so that one that arrives twice counts once. When the saver has left the page, htmx
// names another element as the event's; that of the request stays.
const requested = (event) => event.detail.requestConfig ?? event.detail;
const isSave = (event) => requested(event).elt?.matches?.("[data-saves]");
// What takes a save, or refuses it for good, says that it is ours. A network's sign-in page or a proxy's apology does not.
const OURS = "Quire-Saved";
const FOREIGN = 502;
const codeOf = (status, mark) => (mark === null && ((status > 0 && status <= 400) || status === 409) ? FOREIGN : status);

document.addEventListener("htmx:configRequest", (event) => {
  if (!isSave(event)) return;
  const { elt: saver, parameters, triggeringEvent } = event.detail;
  event.detail.timeout = TIMEOUT;
  event.detail.n = saver.matches("button") ? ++count : note(saver).n;
  parameters.set("key", `${drafts.PAGE}-${event.detail.n}`);
  // htmx adds the button that has the focus when a save's turn comes. Only one that was pressed says where to go.
  parameters.delete("go");
  const pressed = triggeringEvent?.submitter;
  if (pressed?.name === "go") parameters.set("go", pressed.value);
  // A field that waited for its turn may have been saved by the turn before.
  if (saver.matches("form, button") || !notes.get(saver).isCommitted) return;
  event.preventDefault();
  if (status?.dataset.state === "saving") sayOfThePage();
});
document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (isSave(event) && event.detail.xhr.getResponseHeader(OURS) === null) event.preventDefault();
});
document.addEventListener("htmx:beforeSend", (event) => {
  if (!isSave(event)) return;
  const { elt, parameters } = requested(event);
  underway.set(event.detail.xhr, elt);
  say("saving");
  // Between going on and arriving, a key or a click would still answer the item that is being left.
  if (parameters.go) elt.inert = true;
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (!isSave(event)) return;
  const { elt, n, parameters } = requested(event);
  const { xhr } = event.detail;
  const code = codeOf(xhr.status, xhr.getResponseHeader(OURS));
  underway.delete(xhr);
  // Of an answer that only says where to go, htmx does not say that it was a success.
  if (code >= 200 && code < 400) {
    committed(elt, n, Number(parameters.pasted ?? 0));
    return;
  }
  elt.inert = false;
  refused(elt, n, code);
});
function committed(saver, n, nPasted) {
  failed.delete(saver);
  isRenewed = false;
  drafts.drop({ path: pathOf(saver), n });
  if (notes.get(saver)?.n === n) notes.get(saver).isCommitted = true;
  const pasted = saver.elements?.pasted;
  if (pasted) pasted.value = Math.max(0, Number(pasted.value) - nPasted);
  if (status) sayOfThePage();
}
// “Saved” is said of the page: not while something else on it is on its way, or could not be saved.
function sayOfThePage() {
  // The words came with the answer, but for one that only says where to go.
  if (status.dataset.state === "saving" && status.textContent === status.dataset.saving) sayDone();
  const [other] = failed.values();
  if (other) sayFailed(other.state);
  else if (nWaiting) sayFailed("failed");
  else if (isPending()) say("saving");
  else status.dataset.state = "saved";
}
function sayDone() {
  const now = new Date().toLocaleTimeString(document.body.dataset.locale, { hour: "2-digit", minute: "2-digit" });
  status.textContent = `${status.dataset.done} ${now}`;
  status.dataset.state = "saved";
}
/** state : "failed", "offline", or "lost" where the device has not kept it either */
export function sayFailed(state) {
  say(state);
  if (status && state === "lost") status.dataset.state = "offline";
}
function refused(saver, n, code) {
  if (code === 400 || code === 409) {
    // The page says why, or shows both versions; sending the same again would change nothing.
    settledHere.add(`${drafts.PAGE}-${n}`);
    failed.delete(saver);
    const isSaid = status?.textContent !== status?.dataset.saving;
    if (status) status.dataset.state = "failed";
    if (!isSaid) status.textContent = status.dataset.failed;
    return;
  }
  const state = code === 0 ? (notes.get(saver)?.isKept ? "offline" : "lost") : "failed";
  sayFailed(state);
  if (code === 401) sayTrouble("ended");
  if (code === 403) renew();
  const times = failed.get(saver)?.times ?? 0;
  failed.set(saver, { times: times + 1, state });
  const retry = () => (saver.isConnected ? send(saver) : tryAgain());
  setTimeout(() => failed.has(saver) && retry(), AGAIN[Math.min(times, AGAIN.length - 1)]);
}

// The cookies have changed under the page: somebody came in again, or logged in as staff, in another window. Its forms
// get the token that goes with the new ones; where there is none to get, the session has ended.
let isRenewed = false;
async function renew() {
  if (isRenewed) return;
  const how = { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT) };
  const answer = await fetch(location.pathname, how).catch(() => null);
  if (answer?.type === "opaqueredirect" || answer?.status === 401) sayTrouble("ended");
  const html = answer?.ok ? await answer.text() : "";
  const token = new DOMParser().parseFromString(html, "text/html").querySelector("[name=csrfmiddlewaretoken]")?.value;
  if (!token) return;
  isRenewed = true;
  for (const each of document.querySelectorAll("[name=csrfmiddlewaretoken]")) each.value = token;
  tryAgain();
}

// Whatever failed is tried again when there is reason to hope.
function tryAgain() {
  for (const saver of failed.keys()) saver.isConnected ? send(saver) : failed.delete(saver);
  comeBack();
}
function comeBack() {
  nReturns += 1;
  clearTimeout(comingBack);
  const waiting = strays().filter(({ path }) => saverAt(path));
  for (const draft of waiting) showAgain(draft);
  returning = returning.then(bringBack).catch(console.error).finally(() => {
    nReturns -= 1;
    for (const { path } of waiting) release(path);
  });
}
// A question was left with words that no server has, and opened again: they stand there, but until they have been
// delivered nothing can be written over them.
function showAgain({ path, fields }) {
  const saver = saverAt(path);
  saver.inert = true;
  for (const control of saver.elements ?? [saver]) {
    const values = fields.filter(([name]) => name === control.name).map(([, value]) => value);
    if (control.matches("[type=radio], [type=checkbox]")) control.checked = values.includes(control.value);
    else if (control.matches("textarea, select, input:not([type=hidden])") && values.length) [control.value] = values;
  }
}
function release(path) {
  const saver = saverAt(path);
  if (saver) saver.inert = strays().some((draft) => draft.path === path);
}
addEventListener("online", tryAgain);
document.addEventListener("visibilitychange", () => !document.hidden && tryAgain());
document.addEventListener("click", (event) => event.target.closest("[data-retries]") && tryAgain());

// Drafts that another page has left, or a form of this one that is gone: sent under their own names, and shown where
// they cannot simply be taken.
const isOpen = ({ page, n }) => !settledHere.has(`${page}-${n}`);
const isHeld = ({ path, n }) => notes.get(saverAt(path))?.n >= n;
const strays = () => drafts.mine().filter((each) => isOpen(each) && !isHeld(each));
async function bringBack() {
  const left = [...(await drafts.orphans()).filter(isOpen), ...strays()];
  const waiting = left.map(({ path }) => path).filter(saverAt);
  for (const path of waiting) saverAt(path).inert = true;
  const found = [];
  for (const draft of left) found.push(await deliver(draft));
  waiting.forEach(release);
  const isBehind = found.includes(BEHIND);
  const nBefore = nWaiting;
  nWaiting = found.filter((each) => each === WAITS).length;
  if (nWaiting) {
    sayFailed(navigator.onLine ? "failed" : "offline");
    comingBack = setTimeout(tryAgain, AGAIN.at(-1));
  } else if (nBefore && status && !failed.size && !isPending() && !found.includes(REFUSED)) {
    sayDone();
  }
  // What this page shows is older than what is now saved. A reload would take back a link just followed.
  if (isBehind && !isPending() && !isLeaving) location.reload();
}
// What became of a draft: taken, and this page shows something older; taken; refused, and shown; not taken yet.
const [BEHIND, DONE, REFUSED, WAITS] = ["behind", "done", "refused", "waits"];
async function deliver(draft) {
  let answer;
  try {
    const headers = { "HX-Request": "true" };
    const [body, signal] = [drafts.body(draft), AbortSignal.timeout(TIMEOUT)];
    answer = await fetch(draft.path, { method: "POST", body, headers, signal, redirect: "error" });
  } catch {
    return WAITS;
  }
  const saver = saverAt(draft.path);
  const code = codeOf(answer.status, answer.headers.get(OURS));
  if (code < 300) {
    drafts.drop(draft);
    return shows(saver, await answer.text()) || isReview() ? BEHIND : DONE;
  }
  if (![400, 404, 409].includes(code)) return WAITS;
  settledHere.add(`${draft.page}-${draft.n}`);
  // Where there is nothing for this reader: it is somebody else's, who works on this device too.
  if (code === 404) return DONE;
  await explain(draft, saver, answer);
  return REFUSED;
}
// Whether a saver shows another revision than the one that an answer names.
function shows(saver, html) {
  const id = saver?.dataset.of ? `base-${saver.dataset.of}` : saver?.querySelector("[name=base]")?.id;
  const fresh = new DOMParser().parseFromString(html, "text/html").getElementById(id);
  return Boolean(id && fresh && fresh.value !== document.getElementById(id).value);
}
async function explain(draft, saver, answer) {
  const html = await answer.text();
  const target = answer.headers.get("HX-Retarget");
  if (answer.status === 409 && saver && (target || saver.dataset.of)) {
    // Both versions: in the place of the form, or beside the field, which says what was written.
    if (saver.dataset.of) saver.value = draft.fields.find(([name]) => name === saver.name)?.[1] ?? saver.value;
    htmx.swap(target ?? saver, html, { swapStyle: target ? "outerHTML" : "none" });
    if (status) status.dataset.state = "failed";
    return;
  }
  const written = draft.fields.filter(([name]) => name === "rationale" || name.startsWith("answer-"));
  sayTrouble("kept", (words) => {
    words.querySelector("a").href = draft.path;
    words.querySelector("blockquote").textContent = written.map(([, value]) => value).join("\n");
    words.querySelector("button").dataset.discards = draft.path;
  });
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-discards]");
  if (!button) return;
  drafts.forget(button.dataset.discards);
  trouble().replaceChildren();
});
// Of two versions the saved one is kept: then the other is no draft any more.
document.addEventListener("submit", (event) => {
  if ("forgets" in event.target.dataset) drafts.forget(new URL(event.target.action).pathname);
});

// Of a save that fails after its form has gone, no event tells the end.
function isUnderway() {
  for (const xhr of underway.keys()) if (xhr.readyState === XMLHttpRequest.DONE) underway.delete(xhr);
  return underway.size > 0;
}
// Leaving waits for what is still to be saved.
function settled() {
  for (const saver of [...timers.keys()]) send(saver);
  const until = Date.now() + PATIENCE;
  const quiet = new Promise((resolve) => {
    const look = () => (!isUnderway() || Date.now() > until ? resolve() : setTimeout(look, 30));
    setTimeout(look, 0);
  });
  return Promise.race([Promise.all([quiet, returning]), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
}
const isPending = () => isUnderway() || timers.size > 0;
const isReview = () => document.querySelector("[data-reviews]") !== null;
let isLetGo = false; // all waiting has an end
let isWarned = false; // of drafts that could not be saved before the answers are submitted

document.addEventListener("click", async (event) => {
  const way = event.target.closest("a[href]:not([target]), form[data-leaves] button");
  // What is about to be submitted must have arrived; a link leaves it to the next page.
  const isOwed = way?.matches("button") && (nReturns > 0 || (isReview() && nWaiting > 0 && !isWarned));
  if (!way || isLetGo || !(isPending() || isOwed) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  await settled();
  if (isReview() && way.matches("button") && nWaiting > 0 && !isWarned) {
    isWarned = true;
    sayFailed("failed");
    return;
  }
  isLetGo = true;
  way.click();
  isLetGo = false;
}, true);
// A page that is closed sends what it has; whether that arrived, the next page finds out.
addEventListener("pagehide", () => {
  for (const draft of drafts.all()) {
    if (draft.page === drafts.PAGE && !settledHere.has(`${draft.page}-${draft.n}`)) {
      navigator.sendBeacon(draft.path, drafts.body(draft));
    }
  }
});
// Only where the device keeps nothing does leaving need a question.
addEventListener("beforeunload", (event) => {
  isLeaving = true;
  setTimeout(() => { isLeaving = false; }, AGAIN.at(-1)); // who is still here has stayed
  const isAtRisk = [...failed.keys(), ...timers.keys(), ...underway.values()].some((saver) => notes.get(saver)?.isKept === false);
  if (isAtRisk) event.preventDefault();
});

// Whoever has withdrawn leaves nothing on the device either.
if (document.querySelector("[data-forgets-all]")) drafts.forgetAll();
// What was answered before this script was there: nobody has heard of it yet.
function isAltered(control) {
  if (control.matches(":disabled")) return false;
  if (control.matches("[type=radio], [type=checkbox]")) return control.checked !== control.defaultChecked;
  if (control.matches("textarea, input:not([type=hidden])")) return control.value !== control.defaultValue;
  if (!control.matches("select")) return false;
  const asItCame = [...control.options].find((each) => each.defaultSelected) ?? control.options[0];
  return !asItCame.selected;
}
function catchUp() {
  for (const saver of document.querySelectorAll("[data-saves]:not(button)")) {
    if (notes.has(saver) || ![...(saver.elements ?? [saver])].some(isAltered)) continue;
    note(saver);
    sendSoon(saver);
  }
}
catchUp();
addEventListener("pageshow", catchUp);
// The words of a question that has been left are no longer in a form; if they are not saved, they are delivered.
document.addEventListener("htmx:afterSwap", (event) => event.detail.target?.id === "questions" && comeBack());
comeBack();
