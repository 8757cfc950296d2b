// Ranking by drag, by buttons, by position, by keys: the selects are the answer, the rest moves them.
import { required } from "./dom.js";

const { lang } = document.documentElement;
/** @param {HTMLElement[]} rows */
const titles = (rows) =>
  new Intl.ListFormat(lang, { type: "conjunction" }).format(rows.map((row) => row.dataset.title ?? ""));
/**
 * @param {string | undefined} sentence
 * @param {Record<string, string | number | undefined>} words
 */
const filled = (sentence, words) => sentence?.replace(/%([a-z]+)/g, (_, name) => String(words[name])) ?? "";

/** @param {HTMLElement} row @returns {HTMLSelectElement} */
const select = (row) => required("select", row);
/** @param {HTMLElement} row */
const position = (row) => Number(select(row).value);
/** @param {HTMLElement} row @param {-1 | 1} by @returns {HTMLButtonElement} */
const button = (row, by) => required(`[data-moves='${by}']`, row);
/** @param {HTMLElement} element */
const rowOf = (element) => element.closest("li");

/** @param {HTMLElement} ranking */
function setUp(ranking) {
  const announcer = ranking.closest("[data-saves]")?.querySelector("[data-announces]");
  const allowsTies = "ties" in ranking.dataset;
  const rows = () => /** @type {HTMLElement[]} */ ([...ranking.children]);
  const isOrdered = () => rows().every(position);

  // The rows rank by rank, best first; until the first move nothing has an order, and each row is a rank of its own.
  function ranks() {
    /** @type {HTMLElement[][]} */
    const all = [];
    for (const row of rows()) {
      const last = all.at(-1);
      if (last && position(row) && position(last[0]) === position(row)) last.push(row);
      else all.push([row]);
    }
    return all;
  }

  /**
   * Give every row the position of its rank, as the server numbers them: 1, 1, 3.
   * @param {HTMLElement[][]} ordered
   * @param {HTMLElement} moved
   */
  function number(ordered, moved) {
    let before = 0;
    for (const rank of ordered) {
      for (const row of rank) {
        ranking.append(row);
        select(row).value = String(before + 1);
      }
      before += rank.length;
    }
    show();
    announce(moved);
    ranking.dispatchEvent(new CustomEvent("typed", { bubbles: true }));
  }

  function show() {
    const all = ranks();
    for (const row of rows()) {
      required(".position", row).textContent = String(position(row) || "–");
      const isAlone = all.find((rank) => rank.includes(row))?.length === 1;
      button(row, -1).disabled = isAlone && row === rows()[0];
      button(row, 1).disabled = isAlone && row === rows().at(-1);
    }
  }

  /** @param {HTMLElement} moved */
  function announce(moved) {
    if (!announcer) return;
    const level = rows().filter((row) => row !== moved && position(row) === position(moved));
    const words = { story: moved.dataset.title, n: position(moved), total: rows().length, others: titles(level) };
    announcer.textContent = filled(level.length ? announcer.dataset.level : announcer.dataset.now, words);
  }

  /**
   * To that place among the others.
   * @param {HTMLElement} row
   * @param {number} index
   */
  function place(row, index) {
    const others = rows().filter((other) => other !== row);
    others.splice(index, 0, row);
    number(
      others.map((other) => [other]),
      row,
    );
  }

  /**
   * One step up or down. With ties a step is half as wide: out of a shared rank, or into the next one.
   * @param {HTMLElement} row
   * @param {-1 | 1} by
   */
  function step(row, by) {
    if (!allowsTies) return place(row, rows().indexOf(row) + by);
    const all = ranks();
    const from = all.findIndex((rank) => rank.includes(row));
    if (all[from].length > 1) {
      all[from] = all[from].filter((other) => other !== row);
      all.splice(by < 0 ? from : from + 1, 0, [row]);
    } else if (all[from + by]) {
      all[from + by].push(row);
      all.splice(from, 1);
    }
    return number(all, row);
  }

  /**
   * Where it was dropped: between two of one rank it joins them, otherwise it is a rank of its own.
   * @param {HTMLElement} row
   */
  function drop(row) {
    if (!allowsTies || !isOrdered()) return place(row, rows().indexOf(row));
    const [before, after] = [rows()[rows().indexOf(row) - 1], rows()[rows().indexOf(row) + 1]];
    const joins = before && after && position(before) === position(after);
    select(row).value = joins ? select(before).value : "";
    return number(ranks(), row);
  }

  /**
   * @param {HTMLElement} row
   * @param {-1 | 1} by
   */
  function moveBy(row, by) {
    const { activeElement } = document;
    step(row, by);
    const isUsable = row.contains(activeElement) && !activeElement?.matches(":disabled");
    const next = isUsable ? activeElement : row.querySelector("button:enabled");
    if (next instanceof HTMLElement) next.focus();
  }
  ranking.addEventListener("click", (event) => {
    const pressed = event.target.closest("[data-moves]");
    const row = pressed && rowOf(pressed);
    if (row) moveBy(row, pressed.dataset.moves === "1" ? 1 : -1);
  });
  ranking.addEventListener("keydown", (event) => {
    const row = event.target.closest("[data-moves]") && rowOf(event.target);
    if (!row || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    event.preventDefault();
    const by = event.key === "ArrowUp" ? -1 : 1;
    if (!button(row, by).disabled) moveBy(row, by);
  });
  ranking.addEventListener("change", (event) => {
    const row = rowOf(event.target);
    if (!(event.target instanceof HTMLSelectElement) || !row) return;
    event.stopPropagation();
    const isCleared = event.target.value === "";
    if (isCleared) for (const other of rows()) select(other).value = "";
    else if (!allowsTies) place(row, position(row) - 1);
    if (isCleared || allowsTies) choose(row);
    event.target.focus();
  });

  /**
   * With ties every position is the reader's own; it is an answer when all have one, or none.
   * @param {HTMLElement} row
   */
  function choose(row) {
    if (isOrdered()) {
      for (const next of rows().sort((a, b) => position(a) - position(b))) ranking.append(next);
      announce(row);
    }
    show();
    const open = rows().filter((other) => !position(other));
    if (open.length && open.length < rows().length) {
      if (announcer) announcer.textContent = filled(announcer.dataset.open, { stories: titles(open) });
    } else {
      ranking.dispatchEvent(new CustomEvent("typed", { bubbles: true }));
    }
  }

  /** @type {HTMLElement | null} */
  let dragged = null;
  ranking.addEventListener("dragstart", (event) => {
    dragged = rowOf(event.target);
    if (dragged) dragged.dataset.state = "held";
  });
  ranking.addEventListener("dragover", (event) => {
    event.preventDefault();
    const over = rowOf(event.target);
    if (!over || !dragged || over === dragged) return;
    ranking.insertBefore(dragged, rows().indexOf(over) > rows().indexOf(dragged) ? over.nextSibling : over);
  });
  ranking.addEventListener("dragend", () => {
    if (!dragged) return;
    delete dragged.dataset.state;
    drop(dragged);
    dragged = null;
  });
  show();
}

/** @type {NodeListOf<HTMLElement>} */
const rankings = document.querySelectorAll(".ranking");
rankings.forEach(setUp);
