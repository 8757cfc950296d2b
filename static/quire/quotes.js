// Quotes: a passage of the story goes beside the reasons, and is marked where it stands. What is quoted is in the form,
// one checked box for each passage, and nowhere else; the marks in the story are drawn from there.
import { turnTo } from "./display.js";
import { required } from "./dom.js";

/** @typedef {{ paragraph: number, start: number, end: number, text: string, story?: string }} Passage */
/** @typedef {{ href: string, start: number, end: number }} Stretch */

const pane = document.getElementById("story");
const story = pane?.querySelector(".story") ?? null;
const bar = document.getElementById("quoting");
const announcer = document.getElementById("quoting-said");
const PANE_HEAD = 60; // pixels at the top of the pane in which a paragraph does not count as visible

const HOLDERS = "#questions form[data-saves] fieldset:enabled [data-quotes]";
/**
 * All that is remembered between two events: where the next quote goes, and what is being chosen by keys.
 * @typedef {object} Choosing
 * @property {HTMLElement | null} target beside the button that was pressed; null for the first place for quotes
 * @property {HTMLElement | null} origin what had the focus before; while there is something, a passage is being chosen
 * @property {HTMLElement | null} current the paragraph that has the focus
 * @property {number} sentence which sentence of it; -1 for all
 */
/** @type {Choosing} */
const state = { target: null, origin: null, current: null, sentence: -1 };
const holder = () => (state.target?.isConnected ? state.target : document.querySelector(HOLDERS));
const figures = () => [...document.querySelectorAll(`${HOLDERS.replace(":enabled", "")} figure.quote`)];
const paragraphs = () => [...(story?.querySelectorAll(":scope > p") ?? [])];
/** @param {Element} figure @returns {HTMLInputElement} */
const boxOf = (figure) => required("input[type=checkbox]", figure);
/** @param {Element} figure @returns {Passage} */
const passageOf = (figure) => JSON.parse(boxOf(figure).value);
/**
 * @param {string} message
 * @param {string | number} n
 */
function say(message, n = "") {
  if (announcer) announcer.textContent = announcer.dataset[message]?.replace("%n", String(n)) ?? "";
}

// ── Where a passage stands: offsets in its paragraph ──

/**
 * @param {HTMLElement} p
 * @param {number} start
 * @param {number} end
 */
function rangeOf(p, start, end) {
  const range = document.createRange();
  range.selectNodeContents(p);
  const texts = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
  let before = 0;
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const after = before + (text.nodeValue?.length ?? 0);
    if (before <= start && start < after) range.setStart(text, start - before);
    if (before < end && end <= after) range.setEnd(text, end - before);
    before = after;
  }
  return range;
}

/**
 * The part of a selection that lies in one paragraph, without the blanks around it; null if there is none.
 * @param {Range} selection
 * @param {HTMLElement} p
 * @returns {Passage | null}
 */
function passageIn(selection, p) {
  const part = document.createRange();
  part.selectNodeContents(p);
  const before = part.cloneRange();
  const startsLater = selection.compareBoundaryPoints(Range.START_TO_START, part) > 0;
  if (startsLater) part.setStart(selection.startContainer, selection.startOffset);
  const endsEarlier = selection.compareBoundaryPoints(Range.END_TO_END, part) < 0;
  if (endsEarlier) part.setEnd(selection.endContainer, selection.endOffset);
  before.setEnd(part.startContainer, part.startOffset);
  const words = part.toString();
  const text = words.trim();
  const start = before.toString().length + words.length - words.trimStart().length;
  return text ? { paragraph: Number(p.id.slice(1)), start, end: start + text.length, text } : null;
}

// A selection over several paragraphs becomes a passage in each.
function selectedPassages() {
  const selection = getSelection();
  if (!story || !selection || selection.isCollapsed || !selection.rangeCount) return [];
  const range = selection.getRangeAt(0);
  const touched = paragraphs().filter((p) => range.intersectsNode(p));
  return touched.map((p) => passageIn(range, p)).filter((passage) => passage !== null);
}
const clearSelection = () => getSelection()?.removeAllRanges();

// ── Marks: drawn anew from what is in the form ──

function paint() {
  if (!story) return;
  for (const mark of story.querySelectorAll("mark")) mark.replaceWith(...(mark.firstElementChild?.childNodes ?? []));
  story.normalize();
  const quotes = figures().map((figure, i) => {
    figure.id = `quote-${figure.closest("form")?.id.replace("item-", "")}-${i + 1}`;
    return { ...passageOf(figure), href: `#${figure.id}` };
  });
  for (const p of paragraphs()) {
    const quotesOfParagraph = quotes.filter((quote) => `p${quote.paragraph}` === p.id && quote.end && isOfStory(quote));
    for (const stretch of stretches(quotesOfParagraph).reverse()) {
      const mark = document.createElement("mark");
      const link = document.createElement("a");
      link.href = stretch.href;
      const words = rangeOf(p, stretch.start, stretch.end);
      link.append(words.extractContents());
      mark.append(link);
      words.insertNode(mark);
    }
  }
}
/** @param {Passage} quote */
const isOfStory = (quote) => !quote.story || quote.story === story?.dataset.letter;

/**
 * Where quotes overlap, the words belong to the first; the server draws them the same way.
 * @param {Stretch[]} quotes
 */
function stretches(quotes) {
  const cuts = [...new Set(quotes.flatMap(({ start, end }) => [start, end]))].sort((a, b) => a - b);
  /** @type {Stretch[]} */
  const parts = [];
  cuts.slice(1).forEach((end, i) => {
    const owner = quotes.find((quote) => quote.start <= cuts[i] && end <= quote.end);
    const last = parts.at(-1);
    if (owner && last?.href === owner.href && last.end === cuts[i]) last.end = end;
    else if (owner) parts.push({ href: owner.href, start: cuts[i], end });
  });
  return parts;
}

// ── Adding and removing ──

/** @param {Passage[]} passages */
function quote(passages) {
  const to = holder();
  state.target = null;
  if (!to) return say("nowhere");
  const quoted = [...to.querySelectorAll("figure.quote")].map(passageOf);
  const added = passages
    .map((passage) => ("several" in to.dataset ? { story: story?.dataset.letter, ...passage } : passage))
    .filter((passage) => !quoted.some((other) => isSame(other, passage)));
  for (const passage of added) to.append(figureOf(passage, to.dataset.quotes ?? ""));
  leave();
  clearSelection();
  if (!added.length) return say("known");
  paint();
  to.dispatchEvent(new Event("change", { bubbles: true }));
  return say("quoted", added.map((passage) => passage.paragraph).join(", "));
}
/**
 * @param {Passage} a
 * @param {Passage} b
 */
const isSame = (a, b) => a.paragraph === b.paragraph && a.start === b.start && a.end === b.end && a.story === b.story;

/**
 * @param {Passage} passage
 * @param {string} name
 */
function figureOf(passage, name) {
  /** @type {HTMLTemplateElement} */
  const pattern = required("#quote-pattern");
  const copy = /** @type {DocumentFragment} */ (pattern.content.cloneNode(true));
  const figure = required("figure", copy);
  const words = required("blockquote", figure);
  words.textContent = passage.text;
  words.lang = story?.lang ?? "";
  words.classList.toggle("verse", passage.text.includes("\n"));
  required("figcaption a", figure).setAttribute("href", `#p${passage.paragraph}`);
  required("[data-paragraph]", figure).textContent = String(passage.paragraph);
  Object.assign(required("input", figure), { name, value: JSON.stringify(passage) });
  return figure;
}

document.addEventListener("click", (event) => {
  /** @type {HTMLButtonElement | null} */
  const button = event.target.closest("[data-unquotes]");
  const figure = button?.closest("figure");
  if (!button || !figure) return;
  const saver = button.closest("[data-saves]");
  const next = figure.nextElementSibling ?? figure.previousElementSibling;
  say("removed", passageOf(figure).paragraph);
  figure.remove();
  paint();
  (next?.querySelector("[data-unquotes]") ?? saver?.querySelector("[data-quotes-from], textarea"))?.focus();
  saver?.dispatchEvent(new Event("change", { bubbles: true }));
});

// ── Choosing by keys: paragraphs take the focus only now, and only one at a time ──

/** @param {HTMLElement} from */
function choose(from) {
  if (!holder()) return say("nowhere");
  state.origin = from;
  turnTo("story");
  if (bar) required("[data-choosing]", bar).hidden = false;
  say("choose");
  const top = (pane?.getBoundingClientRect().top ?? 0) + PANE_HEAD;
  const [first] = paragraphs();
  return moveTo(paragraphs().find((p) => p.getBoundingClientRect().bottom > top) ?? first);
}

/**
 * @param {HTMLElement} p
 * @param {number} which sentence
 */
function moveTo(p, which = -1) {
  if (state.current && state.current !== p) state.current.removeAttribute("tabindex");
  [state.current, state.sentence] = [p, which];
  p.tabIndex = -1;
  p.focus({ preventScroll: true });
  p.scrollIntoView({ block: "nearest" });
  const words = sentencesOf(p)[which];
  const end = words ? words.index + words.segment.trimEnd().length : (p.textContent ?? "").length;
  const range = rangeOf(p, words?.index ?? 0, end);
  getSelection()?.setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
}

/** @param {HTMLElement} p */
function sentencesOf(p) {
  if (!Intl.Segmenter) return [];
  return [...new Intl.Segmenter(story?.lang, { granularity: "sentence" }).segment(p.textContent ?? "")];
}

// End choosing, or looking at where a passage stands.
function stop() {
  state.origin = null;
  state.target = null;
  state.current?.removeAttribute("tabindex");
  state.current = null;
  for (const part of bar?.querySelectorAll("[data-choosing], [data-does=return]") ?? []) part.hidden = true;
}

// … and go back to where one came from.
function leave() {
  const back = state.origin;
  if (!back) return;
  stop();
  if (back.closest("#questions")) turnTo("questions");
  if (back.isConnected && back !== document.body) back.focus();
  else document.querySelector("#questions h2")?.focus();
}
function cancel() {
  clearSelection();
  leave();
}

story?.addEventListener("keydown", (event) => {
  const p = state.current;
  if (!p || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = paragraphs();
  const last = sentencesOf(p).length - 1;
  /** @type {Record<string, () => void>} */
  const moves = {
    ArrowDown: () => moveTo(all[all.indexOf(p) + 1] ?? p),
    ArrowUp: () => moveTo(all[all.indexOf(p) - 1] ?? p),
    ArrowRight: () => moveTo(p, Math.min(state.sentence + 1, last)),
    ArrowLeft: () => moveTo(p, Math.max(state.sentence - 1, -1)),
    Enter: () => quote(selectedPassages()),
    Escape: cancel,
  };
  if (!moves[event.key] || (event.key === "Enter" && event.target.closest("a"))) return;
  event.preventDefault();
  event.stopPropagation();
  moves[event.key]();
});

// Who goes on with the question by themselves need not be led back to it.
document.getElementById("questions")?.parentElement?.addEventListener("focusin", (event) => {
  if (state.origin && event.target.closest("#questions")) stop();
});

// What is selected, or otherwise what will be chosen.
export function quoteOrChoose(from = document.activeElement ?? document.body) {
  const fieldset = from.matches("[data-quotes-from]") ? from.closest("fieldset") : null;
  state.target = fieldset?.querySelector("[data-quotes]") ?? null;
  const passages = selectedPassages();
  if (passages.length) quote(passages);
  else if (from instanceof HTMLElement) choose(from);
}

// ── By mouse and finger ──

document.addEventListener("selectionchange", () => {
  if (!bar) return;
  bar.hidden = !holder() || !selectedPassages().length;
  required("[data-does=return]", bar).hidden = !state.origin;
});
document.addEventListener("mousedown", (event) => {
  // Pressing a button must not undo the selection that it is about.
  if (event.target.closest("#quoting button, [data-quotes-from]")) event.preventDefault();
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-quotes-from]");
  if (button && story) return quoteOrChoose(button);
  const action = event.target.closest("#quoting [data-does]")?.dataset.does;
  if (action === "quote") return quote(selectedPassages());
  return action === "return" ? cancel() : undefined;
});

// From the quote to its paragraph, and from the passage to its quote; the address stays what it is.
document.addEventListener("click", (event) => {
  /** @type {HTMLAnchorElement | null} */
  const link = event.target.closest(".quote figcaption a, .story mark a");
  const to = link && document.getElementById(link.hash.slice(1));
  if (!to || !story) return;
  event.preventDefault();
  turnTo(to.matches("p") ? "story" : "questions");
  if (to.matches("p")) {
    state.origin = link;
    state.current = to;
    to.tabIndex = -1;
  }
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: "center" });
});

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id === "questions") paint();
});
if (story) paint();
