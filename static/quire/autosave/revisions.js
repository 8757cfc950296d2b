// The revision of each answer that this entry of the browser's history has shown. Going back, a browser may put words
// that it remembers into a page that shows a newer answer; they build upon what was shown here, not upon that.
import { allSavers, baseOf, pathOf } from "./forms.js";

// Before any answer: what a page that came back without a memory of its own is taken to have shown.
const NONE = "0";

/** @type {Record<string, string>} as it was when the page came: the browser may put its words in later than that */
const remembered = history.state?.revisions ?? {};

/**
 * The revision that a saver showed in this entry before the page came (again).
 * @param {HTMLElement} saver
 */
export function shownBefore(saver) {
  const current = baseOf(saver)?.value;
  const [visit] = performance.getEntriesByType("navigation");
  const isReturn = visit instanceof PerformanceNavigationTiming && visit.type !== "navigate";
  return remembered[pathOf(saver)] ?? (isReturn ? NONE : current);
}

/** Remember what all savers show now. */
export function note() {
  const entries = allSavers().map((saver) => [pathOf(saver), baseOf(saver)?.value]);
  history.replaceState({ ...history.state, revisions: Object.fromEntries(entries) }, "");
}
