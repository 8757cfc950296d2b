// Ranking by drag, by buttons, by position, by keys: the selects are the answer, the rest moves them.
const { lang } = document.documentElement;
const titles = (rows) => new Intl.ListFormat(lang, { type: "conjunction" }).format(rows.map((row) => row.dataset.title));
const filled = (sentence, words) => sentence.replace(/%([a-z]+)/g, (_, name) => words[name]);

for (const ranking of document.querySelectorAll(".ranking")) {
  const said = ranking.closest("form").querySelector("[data-announces]");
  const allowsTies = "ties" in ranking.dataset;
  const rows = () => [...ranking.children];
  const select = (row) => row.querySelector("select");
  const position = (row) => Number(select(row).value);
  const isOrdered = () => rows().every(position);

  // The rows rank by rank, best first; until the first move nothing has an order, and each row is a rank of its own.
  function ranks() {
    const found = [];
    for (const row of rows()) {
      const last = found.at(-1);
      if (last && position(row) && position(last[0]) === position(row)) last.push(row);
      else found.push([row]);
    }
    return found;
  }

  // Give every row the position of its rank, as the server numbers them: 1, 1, 3.
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
    tell(moved);
    ranking.dispatchEvent(new CustomEvent("typed", { bubbles: true }));
  }

  function show() {
    const all = ranks();
    for (const row of rows()) {
      row.querySelector(".position").textContent = position(row) || "–";
      const alone = all.find((rank) => rank.includes(row)).length === 1;
      row.querySelector("[data-moves='-1']").disabled = alone && row === rows()[0];
      row.querySelector("[data-moves='1']").disabled = alone && row === rows().at(-1);
    }
  }

  function tell(moved) {
    if (!said) return;
    const level = rows().filter((row) => row !== moved && position(row) === position(moved));
    const words = { story: moved.dataset.title, n: position(moved), total: rows().length, others: titles(level) };
    said.textContent = filled(level.length ? said.dataset.level : said.dataset.now, words);
  }

  // To that place among the others.
  function place(row, at) {
    const others = rows().filter((other) => other !== row);
    others.splice(at, 0, row);
    number(others.map((each) => [each]), row);
  }

  // One step up or down. With ties a step is half as wide: out of a shared rank, or into the next one.
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

  // Where it was dropped: between two of one rank it joins them, otherwise it is a rank of its own.
  function drop(row) {
    const [before, after] = [row.previousElementSibling, row.nextElementSibling];
    if (!allowsTies || !isOrdered()) return place(row, rows().indexOf(row));
    const joins = before && after && position(before) === position(after);
    select(row).value = joins ? select(before).value : "";
    return number(ranks(), row);
  }

  function moveBy(row, by) {
    const focused = document.activeElement;
    step(row, by);
    (focused.disabled || !row.contains(focused) ? row.querySelector("button:enabled") : focused)?.focus();
  }
  ranking.addEventListener("click", (event) => {
    const button = event.target.closest("[data-moves]");
    if (button) moveBy(button.closest("li"), Number(button.dataset.moves));
  });
  ranking.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const button = event.target.closest("[data-moves]");
    if (!by || !button) return;
    event.preventDefault();
    const row = button.closest("li");
    if (!row.querySelector(`[data-moves='${by}']`).disabled) moveBy(row, by);
  });
  ranking.addEventListener("change", (event) => {
    if (!event.target.matches("select")) return;
    event.stopPropagation();
    const row = event.target.closest("li");
    if (event.target.value === "") for (const each of rows()) select(each).value = "";
    else if (!allowsTies) place(row, position(row) - 1);
    if (event.target.value === "" || allowsTies) chosen(row);
    event.target.focus();
  });

  // With ties every position is the reader's own; it is an answer when all have one, or none.
  function chosen(row) {
    if (isOrdered()) {
      for (const each of rows().sort((a, b) => position(a) - position(b))) ranking.append(each);
      tell(row);
    }
    show();
    const open = rows().filter((each) => !position(each));
    if (open.length && open.length < rows().length) {
      if (said) said.textContent = filled(said.dataset.open, { stories: titles(open) });
    } else {
      ranking.dispatchEvent(new CustomEvent("typed", { bubbles: true }));
    }
  }

  let held = null;
  ranking.addEventListener("dragstart", (event) => {
    held = event.target.closest("li");
    held.dataset.state = "held";
  });
  ranking.addEventListener("dragover", (event) => {
    event.preventDefault();
    const over = event.target.closest("li");
    if (!over || !held || over === held) return;
    ranking.insertBefore(held, rows().indexOf(over) > rows().indexOf(held) ? over.nextSibling : over);
  });
  ranking.addEventListener("dragend", () => {
    delete held.dataset.state;
    drop(held);
    held = null;
  });
  show();
}
