// Active time: counted while the page is in view and somebody did something within the last minute. What they did is
// not looked at: a sign of life has a time and nothing else.
import { csrfToken } from "./dom.js";

const IDLE = 60_000;
const REPORT = 30_000;
const SIGNS = ["keydown", "pointermove", "pointerdown", "scroll"];

/** @type {Map<string, number>} step, letter and section → seconds not yet reported */
const secondsByPlace = new Map();
let last = performance.now();
const live = () => {
  last = performance.now();
};
for (const sign of SIGNS) document.addEventListener(sign, live, { passive: true, capture: true });

const currentPlace = () => document.querySelector("[data-times]");
const isActive = () => !document.hidden && performance.now() - last < IDLE;

setInterval(() => {
  const place = currentPlace();
  if (!place || !isActive()) return;
  const { step, letter = "", section = "" } = place.dataset;
  add(`${step} ${letter} ${section}`, 1);
}, 1000);

/**
 * @param {string} key
 * @param {number} seconds
 */
function add(key, seconds) {
  secondsByPlace.set(key, (secondsByPlace.get(key) ?? 0) + seconds);
}

// All of it in one report: of two at once the server would count one.
function takeReport() {
  if (!secondsByPlace.size) return null;
  const report = new FormData();
  report.set("csrfmiddlewaretoken", csrfToken());
  for (const [key, seconds] of secondsByPlace) {
    const [step, letter, section] = key.split(" ");
    for (const [name, value] of Object.entries({ step, letter, section, seconds })) report.append(name, String(value));
  }
  secondsByPlace.clear();
  return report;
}
/** @param {FormData} report */
function putBack(report) {
  const [steps, letters, sections, seconds] = ["step", "letter", "section", "seconds"].map((name) =>
    report.getAll(name),
  );
  steps.forEach((step, i) => {
    add(`${step} ${letters[i]} ${sections[i]}`, Number(seconds[i]));
  });
}
async function sendReport() {
  const url = currentPlace()?.dataset.times;
  const report = url && takeReport();
  if (!report) return;
  const answer = await fetch(url, { method: "POST", body: report, redirect: "error" }).catch(() => null);
  // Not heard: sent again with the next report. The server counts no second twice.
  if (!answer || answer.status >= 500) putBack(report);
  const worked = document.querySelector("[data-worked]");
  const isAboutThis = report.getAll("letter").at(-1) === (currentPlace()?.dataset.letter ?? "");
  if (answer?.ok && worked && isAboutThis) worked.textContent = await answer.text();
}
function reportAndLeave() {
  const url = currentPlace()?.dataset.times;
  const report = url && takeReport();
  if (report) navigator.sendBeacon(url, report);
}
setInterval(sendReport, REPORT);
document.addEventListener("visibilitychange", () => document.hidden && reportAndLeave());
addEventListener("pagehide", reportAndLeave);
