// Reading: settings, the tabs of small screens, and the place in the story.
import { required } from "./dom.js";

const root = document.documentElement;

// A browser may refuse storage altogether; then the place is not kept, and that is all.
/** @param {string} name */
function loadPlace(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}
/**
 * @param {string} name
 * @param {string | number} value
 */
function keepPlace(name, value) {
  try {
    sessionStorage.setItem(name, String(value));
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
  const place = `place-${desk.dataset.story}`;
  required(".tabs").hidden = false;
  desk.dataset.tab = "story";

  /** @param {HTMLElement} tab */
  function show(tab) {
    for (const other of tabs) {
      other.setAttribute("aria-selected", String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
    }
    const pane = tab.dataset.shows ?? "";
    desk.dataset[`y${desk.dataset.tab}`] = String(scrollY);
    desk.dataset.tab = pane;
    scrollTo(0, Number(desk.dataset[`y${pane}`] ?? 0));
    keepPlace(`${place}-tab`, pane);
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
  // The story is where it was when the page was left: to an answer, to the other stories, or for a week.
  const pane = required("#story");
  pane.scrollTop = Number(loadPlace(place) ?? 0);
  pane.addEventListener("scroll", () => keepPlace(place, Math.round(pane.scrollTop)), { passive: true });
  // Whoever comes from the check to something that is lacking comes to the question.
  const isLacking = document.querySelector("#questions .problem:not(:empty)");
  const wanted = isLacking ? "questions" : loadPlace(`${place}-tab`);
  const first = tabs.find((tab) => tab.dataset.shows === wanted);
  if (first) show(first);
}
if (desk && tabs.length) setUpTabs(desk);
