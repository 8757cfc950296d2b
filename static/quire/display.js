// Reading: settings, and the tabs of small screens.
import { required } from "./dom.js";
import { StoryPosition } from "./position.js";

const root = document.documentElement;

// Which pane was up. A browser may refuse storage altogether; then it is not kept, and that is all.
/** @param {string} name */
function loadTab(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}
/**
 * @param {string} name
 * @param {string} pane
 */
function keepTab(name, pane) {
  try {
    sessionStorage.setItem(name, pane);
  } catch {
    // as above
  }
}

// Settings take effect at once and are kept in a cookie, so that the server can set the next page right away.
document.addEventListener("change", (event) => {
  const form = event.target.closest("[data-reading]");
  if (!(form instanceof HTMLFormElement)) return;
  const settings = new FormData(form);
  root.dataset.theme = String(settings.get("theme"));
  root.dataset.size = String(settings.get("size"));
  root.dataset.numbers = String(settings.get("numbers") ?? "off");
  root.dataset.keys = String(settings.get("keys") ?? "on");
  const { theme, size, numbers, keys } = root.dataset;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser yet
  document.cookie = `reading=${theme}.${size}.${numbers}.${keys}; path=/; max-age=31536000; samesite=lax`;
});
// Another language leaves readers at the question where they are, which need not be the one the page began with.
document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-reading]")) return;
  /** @type {HTMLInputElement} */
  const back = required("[name=back]", event.target);
  back.value = location.pathname;
});
/** @returns {HTMLDetailsElement | null} */
const openSettings = () => document.querySelector(".settings[open]");
document.addEventListener("keydown", (event) => {
  const settings = openSettings();
  if (event.key !== "Escape" || !settings) return;
  settings.open = false;
  settings.querySelector("summary")?.focus();
});
document.addEventListener("click", (event) => {
  const settings = openSettings();
  if (settings && !settings.contains(event.target)) settings.open = false;
});

// Tabs: without this script story and questions stand one below the other.
const desk = document.querySelector(".desk");
const tabs = [...document.querySelectorAll("[role=tab]")];

// Bring that pane up where only one is shown; elsewhere both are.
/** @param {string} pane */
export function turnTo(pane) {
  const tab = document.getElementById(`tab-${pane}`);
  if (tab?.offsetParent) tab.click();
}

/** @param {HTMLElement} desk */
function setUpTabs(desk) {
  const key = `place-${desk.dataset.story}-tab`;
  const position = new StoryPosition(desk, required("#story"));
  required(".tabs").hidden = false;
  desk.dataset.tab = "story";

  let yOfQuestions = 0;

  /** @param {HTMLElement} tab */
  function show(tab) {
    for (const other of tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
    }
    const pane = tab.dataset.shows ?? "";
    if (desk.dataset.tab === "questions") yOfQuestions = scrollY;
    else position.look();
    desk.dataset.tab = pane;
    if (pane === "story") position.restore();
    else scrollTo(0, yOfQuestions);
    keepTab(key, pane);
  }

  for (const tab of tabs) {
    tab.addEventListener("click", () => show(tab));
    tab.addEventListener("keydown", (event) => {
      if (!event.key.startsWith("Arrow")) return;
      const next = tabs.find((other) => other !== tab) ?? tab;
      next.focus();
      show(next);
    });
  }
  // Whoever comes from the check to something that is lacking comes to the question.
  const isLacking = document.querySelector("#questions .problem:not(:empty)");
  const wanted = isLacking ? "questions" : loadTab(key);
  const first = tabs.find((tab) => tab.dataset.shows === wanted);
  if (first) show(first);
  // A link into the story leads where it says.
  if (location.hash) position.isRestored = true;
  else {
    position.restore();
    document.fonts.ready.then(() => position.restoreUnlessMoved());
  }
}
if (desk && tabs.length) setUpTabs(desk);
