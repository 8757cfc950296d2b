// Active time: counted while the page is in view and somebody did something within the last minute. What they did is
// not looked at: a sign of life has a time and nothing else.
const IDLE = 60_000;
const REPORT = 30_000;
const SIGNS = ["keydown", "pointermove", "pointerdown", "scroll"];

const unsaid = new Map(); // step, letter and section → seconds not yet reported
let last = performance.now();
const live = () => { last = performance.now(); };
for (const sign of SIGNS) document.addEventListener(sign, live, { passive: true, capture: true });

const here = () => document.querySelector("[data-times]");
const isActive = () => !document.hidden && performance.now() - last < IDLE;

setInterval(() => {
  const place = here();
  if (!place || !isActive()) return;
  const { step, letter = "", section = "" } = place.dataset;
  const key = `${step} ${letter} ${section}`;
  unsaid.set(key, (unsaid.get(key) ?? 0) + 1);
}, 1000);

// All of it in one report: of two at once the server would count one.
function unreported() {
  if (!unsaid.size) return null;
  const said = new FormData();
  said.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
  for (const [key, seconds] of unsaid) {
    const [step, letter, section] = key.split(" ");
    for (const [name, value] of Object.entries({ step, letter, section, seconds })) said.append(name, value);
  }
  unsaid.clear();
  return said;
}
function putBack(said) {
  const [steps, letters, sections, seconds] = ["step", "letter", "section", "seconds"].map((name) => said.getAll(name));
  steps.forEach((step, i) => {
    const key = `${step} ${letters[i]} ${sections[i]}`;
    unsaid.set(key, (unsaid.get(key) ?? 0) + Number(seconds[i]));
  });
}
async function report() {
  const place = here();
  const said = place && unreported();
  if (!said) return;
  const answer = await fetch(place.dataset.times, { method: "POST", body: said, redirect: "error" }).catch(() => null);
  // Not heard: said again with the next report. The server counts no second twice.
  if (!answer || answer.status >= 500) putBack(said);
  const shown = document.querySelector("[data-worked]");
  const isAboutThis = said.getAll("letter").at(-1) === (here()?.dataset.letter ?? "");
  if (answer?.ok && shown && isAboutThis) shown.textContent = await answer.text();
}
function reportAndLeave() {
  const place = here();
  const said = place && unreported();
  if (said) navigator.sendBeacon(place.dataset.times, said);
}
setInterval(report, REPORT);
document.addEventListener("visibilitychange", () => document.hidden && reportAndLeave());
addEventListener("pagehide", reportAndLeave);
