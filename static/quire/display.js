// Reading: settings, the tabs of small screens, and the place in the story.
const root = document.documentElement;

// A browser may refuse storage altogether; then the place is not kept, and that is all.
function placed(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null;
  }
}
function keepPlace(name, value) {
  try {
    sessionStorage.setItem(name, value);
  } catch {
    // as above
  }
}

// Settings take effect at once and are kept in a cookie, so that the server can set the next page right away.
document.addEventListener("change", (event) => {
  const form = event.target.closest("[data-reading]");
  if (!form) return;
  const chosen = new FormData(form);
  root.dataset.theme = chosen.get("theme");
  root.dataset.size = chosen.get("size");
  root.dataset.numbers = chosen.get("numbers") ?? "off";
  root.dataset.keys = chosen.get("keys") ?? "on";
  const { theme, size, numbers, keys } = root.dataset;
  document.cookie = `reading=${theme}.${size}.${numbers}.${keys}; path=/; max-age=31536000; samesite=lax`;
});
// Another language leaves readers at the question where they are, which need not be the one the page began with.
document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-reading]")) event.target.elements.back.value = location.pathname;
});
document.addEventListener("keydown", (event) => {
  const open = document.querySelector(".settings[open]");
  if (event.key !== "Escape" || !open) return;
  open.open = false;
  open.querySelector("summary").focus();
});
document.addEventListener("click", (event) => {
  const open = document.querySelector(".settings[open]");
  if (open && !open.contains(event.target)) open.open = false;
});

// Tabs: without this script story and questions stand one below the other.
const desk = document.querySelector(".desk");
const tabs = [...document.querySelectorAll("[role=tab]")];
const place = desk ? `place-${desk.dataset.story}` : "";

function show(tab) {
  for (const other of tabs) {
    other.setAttribute("aria-selected", String(other === tab));
    other.tabIndex = other === tab ? 0 : -1;
  }
  desk.dataset[`y${desk.dataset.tab}`] = scrollY;
  desk.dataset.tab = tab.dataset.shows;
  scrollTo(0, desk.dataset[`y${tab.dataset.shows}`] ?? 0);
  keepPlace(`${place}-tab`, tab.dataset.shows);
}

// Bring that pane up where only one is shown; elsewhere both are.
export function turnTo(pane) {
  const tab = document.getElementById(`tab-${pane}`);
  if (tab?.offsetParent) tab.click();
}

if (desk && tabs.length) {
  document.querySelector(".tabs").hidden = false;
  desk.dataset.tab = "story";
  for (const tab of tabs) {
    tab.addEventListener("click", () => show(tab));
    tab.addEventListener("keydown", (event) => {
      if (!event.key.startsWith("Arrow")) return;
      const next = tabs.find((other) => other !== tab);
      next.focus();
      show(next);
    });
  }
  // The story is where it was when the page was left: to an answer, to the other stories, or for a week.
  const pane = document.getElementById("story");
  pane.scrollTop = Number(placed(place) ?? 0);
  pane.addEventListener("scroll", () => keepPlace(place, Math.round(pane.scrollTop)), { passive: true });
  // Whoever comes from the check to something that is lacking comes to the question.
  const isLacking = document.querySelector("#questions .problem:not(:empty)");
  const wanted = isLacking ? "questions" : placed(`${place}-tab`);
  const shown = tabs.find((tab) => tab.dataset.shows === wanted);
  if (shown) show(shown);
}
