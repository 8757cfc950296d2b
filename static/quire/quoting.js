// Quoting: a passage of the story goes beside the reasons, and is marked where it stands. What is quoted is in the form,
// one checked box for each passage, and nowhere else; the marks in the story are drawn from there.
import { turnTo } from "./reading.js";

const pane = document.getElementById("story");
const story = pane?.querySelector(".story");
const bar = document.getElementById("quoting");
const said = document.getElementById("quoting-said");
const pattern = document.getElementById("quote-pattern");

const HOLDERS = "#questions form[data-saves] fieldset:enabled [data-quotes]";
// Where the next quote goes: beside the button that was pressed, otherwise to the first place for quotes.
let into = null;
const holder = () => (into?.isConnected ? into : document.querySelector(HOLDERS));
const figures = () => [...document.querySelectorAll(`${HOLDERS.replace(":enabled", "")} figure.quote`)];
const paragraphs = () => [...story.querySelectorAll(":scope > p")];
const passage = (figure) => JSON.parse(figure.querySelector("input[type=checkbox]").value);
const say = (what, n) => { if (said) said.textContent = said.dataset[what].replace("%n", n); };

// ── Where a passage stands: offsets in its paragraph ──

function range(p, start, end) {
  const found = document.createRange();
  found.selectNodeContents(p);
  const texts = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
  let before = 0;
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const after = before + text.length;
    if (before <= start && start < after) found.setStart(text, start - before);
    if (before < end && end <= after) found.setEnd(text, end - before);
    before = after;
  }
  return found;
}

// The part of a selection that lies in one paragraph, without the blanks around it; null if there is none.
function within(selected, p) {
  const part = document.createRange();
  part.selectNodeContents(p);
  const before = part.cloneRange();
  if (selected.compareBoundaryPoints(Range.START_TO_START, part) > 0) part.setStart(selected.startContainer, selected.startOffset);
  if (selected.compareBoundaryPoints(Range.END_TO_END, part) < 0) part.setEnd(selected.endContainer, selected.endOffset);
  before.setEnd(part.startContainer, part.startOffset);
  const words = part.toString();
  const text = words.trim();
  const start = before.toString().length + words.length - words.trimStart().length;
  return text ? { paragraph: Number(p.id.slice(1)), start, end: start + text.length, text } : null;
}

// A selection over several paragraphs becomes a passage in each.
function selected() {
  const selection = getSelection();
  if (!story || selection.isCollapsed || !selection.rangeCount) return [];
  const whole = selection.getRangeAt(0);
  return paragraphs().filter((p) => whole.intersectsNode(p)).map((p) => within(whole, p)).filter(Boolean);
}

// ── Marks: drawn anew from what is in the form ──

function paint() {
  if (!story) return;
  for (const mark of story.querySelectorAll("mark")) mark.replaceWith(...mark.firstElementChild.childNodes);
  story.normalize();
  const quotes = figures().map((figure, i) => {
    figure.id = `quote-${figure.closest("form").id.replace("item-", "")}-${i + 1}`;
    return { ...passage(figure), href: `#${figure.id}` };
  });
  for (const p of paragraphs()) {
    const here = quotes.filter((quote) => `p${quote.paragraph}` === p.id && quote.end && isOurs(quote));
    for (const stretch of stretches(here).reverse()) {
      const mark = document.createElement("mark");
      const way = document.createElement("a");
      way.href = stretch.href;
      const words = range(p, stretch.start, stretch.end);
      way.append(words.extractContents());
      mark.append(way);
      words.insertNode(mark);
    }
  }
}
const isOurs = (quote) => !quote.story || quote.story === story.dataset.letter;

// Where quotes overlap, the words belong to the first; the server draws them the same way.
function stretches(quotes) {
  const cuts = [...new Set(quotes.flatMap(({ start, end }) => [start, end]))].sort((a, b) => a - b);
  const found = [];
  cuts.slice(1).forEach((end, i) => {
    const owner = quotes.find((quote) => quote.start <= cuts[i] && end <= quote.end);
    const last = found.at(-1);
    if (owner && last?.href === owner.href && last.end === cuts[i]) last.end = end;
    else if (owner) found.push({ href: owner.href, start: cuts[i], end });
  });
  return found;
}

// ── Adding and removing ──

function quote(passages) {
  const to = holder();
  into = null;
  if (!to) return say("nowhere");
  const added = passages
    .map((each) => ("several" in to.dataset ? { story: story.dataset.letter, ...each } : each))
    .filter((each) => ![...to.querySelectorAll("figure.quote")].some((figure) => isSame(passage(figure), each)));
  for (const each of added) to.append(figureOf(each, to.dataset.quotes));
  leave();
  getSelection().removeAllRanges();
  if (!added.length) return say("known");
  paint();
  to.dispatchEvent(new Event("change", { bubbles: true }));
  return say("quoted", added.map((each) => each.paragraph).join(", "));
}
const isSame = (a, b) => a.paragraph === b.paragraph && a.start === b.start && a.end === b.end && a.story === b.story;

function figureOf(each, name) {
  const figure = pattern.content.cloneNode(true).querySelector("figure");
  figure.querySelector("blockquote").textContent = each.text;
  figure.querySelector("blockquote").lang = story.lang;
  figure.querySelector("figcaption a").href = `#p${each.paragraph}`;
  figure.querySelector("[data-paragraph]").textContent = each.paragraph;
  Object.assign(figure.querySelector("input"), { name, value: JSON.stringify(each) });
  return figure;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-unquotes]");
  if (!button) return;
  const figure = button.closest("figure");
  const form = button.form;
  const next = figure.nextElementSibling ?? figure.previousElementSibling;
  say("removed", passage(figure).paragraph);
  figure.remove();
  paint();
  (next?.querySelector("[data-unquotes]") ?? form.querySelector("[data-quotes-from], textarea"))?.focus();
  form.dispatchEvent(new Event("change", { bubbles: true }));
});

// ── Choosing by keys: paragraphs take the focus only now, and only one at a time ──

let came = null; // what had the focus before; while there is something, a passage is being chosen
let at = null; // the paragraph
let sentence = -1; // which sentence of it; -1 for all

function choose(from) {
  if (!holder()) return say("nowhere");
  came = from;
  turnTo("story");
  bar.querySelector("[data-choosing]").hidden = false;
  say("choose");
  return stand(paragraphs().find((p) => p.getBoundingClientRect().bottom > pane.getBoundingClientRect().top + 60) ?? paragraphs()[0]);
}

function stand(p, which = -1) {
  if (at && at !== p) at.removeAttribute("tabindex");
  [at, sentence] = [p, which];
  p.tabIndex = -1;
  p.focus({ preventScroll: true });
  p.scrollIntoView({ block: "nearest" });
  const spoken = sentences(p)[which];
  const chosen = spoken ? range(p, spoken.index, spoken.index + spoken.segment.trimEnd().length) : range(p, 0, p.textContent.length);
  getSelection().setBaseAndExtent(chosen.startContainer, chosen.startOffset, chosen.endContainer, chosen.endOffset);
}

function sentences(p) {
  if (!Intl.Segmenter) return [];
  return [...new Intl.Segmenter(story.lang, { granularity: "sentence" }).segment(p.textContent)];
}

// End choosing, or looking at where a passage stands.
function stop() {
  came = null;
  into = null;
  at?.removeAttribute("tabindex");
  at = null;
  for (const part of bar.querySelectorAll("[data-choosing], [data-does=return]")) part.hidden = true;
}

// … and go back to where one came from.
function leave() {
  if (!came) return;
  const back = came;
  stop();
  if (back.closest("#questions")) turnTo("questions");
  if (back.isConnected && back !== document.body) back.focus();
  else document.querySelector("#questions h2")?.focus();
}

story?.addEventListener("keydown", (event) => {
  if (!at || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = paragraphs();
  const last = sentences(at).length - 1;
  const moves = {
    ArrowDown: () => stand(all[all.indexOf(at) + 1] ?? at),
    ArrowUp: () => stand(all[all.indexOf(at) - 1] ?? at),
    ArrowRight: () => stand(at, Math.min(sentence + 1, last)),
    ArrowLeft: () => stand(at, Math.max(sentence - 1, -1)),
    Enter: () => quote(selected()),
    Escape: () => { getSelection().removeAllRanges(); leave(); },
  };
  if (!moves[event.key] || (event.key === "Enter" && event.target.closest("a"))) return;
  event.preventDefault();
  event.stopPropagation();
  moves[event.key]();
});

// Who goes on with the question by themselves need not be led back to it.
document.getElementById("questions")?.parentElement.addEventListener("focusin", (event) => {
  if (came && event.target.closest("#questions")) stop();
});

// What is selected, or otherwise what will be chosen.
export function quoteOrChoose(from = document.activeElement) {
  into = from.matches("[data-quotes-from]") ? from.closest("fieldset").querySelector("[data-quotes]") : null;
  const found = selected();
  if (found.length) quote(found);
  else choose(from);
}

// ── By mouse and finger ──

document.addEventListener("selectionchange", () => {
  if (!bar) return;
  bar.hidden = !holder() || !selected().length;
  bar.querySelector("[data-does=return]").hidden = !came;
});
document.addEventListener("mousedown", (event) => {
  // Pressing a button must not undo the selection that it is about.
  if (event.target.closest("#quoting button, [data-quotes-from]")) event.preventDefault();
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-quotes-from]");
  if (button && story) return quoteOrChoose(button);
  const does = event.target.closest("#quoting [data-does]")?.dataset.does;
  if (does === "quote") return quote(selected());
  if (does === "return") { getSelection().removeAllRanges(); return leave(); }
  return undefined;
});

// From the quote to its paragraph, and from the passage to its quote; the address stays what it is.
document.addEventListener("click", (event) => {
  const way = event.target.closest(".quote figcaption a, .story mark a");
  const to = way && document.getElementById(way.hash.slice(1));
  if (!to || !story) return;
  event.preventDefault();
  turnTo(to.matches("p") ? "story" : "questions");
  if (to.matches("p")) {
    came = way;
    at = to;
    to.tabIndex = -1;
  }
  to.focus({ preventScroll: true });
  to.scrollIntoView({ block: "center" });
});

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target?.id === "questions") paint();
});
if (story) paint();
