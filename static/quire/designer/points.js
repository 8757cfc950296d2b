// A scale has a field for the words at each of its points as soon as From or To changes. Without this file the button
// below the kinds of answers shows them, and what was written for the ends of before is saved for those of now.

const MOST_POINTS = 11; // as studies.items.scale has it

/**
 * The points from one number to another; none where there is no such scale.
 * @param {string} low
 * @param {string} high
 */
function pointsBetween(low, high) {
  if (!/^\s*[-+]?\d{1,4}\s*$/.test(low) || !/^\s*[-+]?\d{1,4}\s*$/.test(high)) return [];
  const n = Number(high) - Number(low) + 1;
  return n < 2 || n > MOST_POINTS ? [] : Array.from({ length: n }, (_, index) => String(Number(low) + index));
}

/**
 * Words by point once the ends are others: those of the ends of before are for the ends of now, unless somebody has
 * written there. As PointWordsWidget on the server has it.
 * @param {Record<string, string>} words
 * @param {string[]} before
 * @param {string[]} now
 */
export function moveEnds(words, before, now) {
  const others = Object.fromEntries(Object.entries(words).filter(([point, text]) => text && !before.includes(point)));
  const ends = before.map((point, index) => [now[index] ?? point, words[point] ?? ""]).filter(([, text]) => text);
  return ends.some(([point]) => (point ?? "") in others) ? words : { ...others, ...Object.fromEntries(ends) };
}

/**
 * @param {HTMLElement} list
 * @param {string[]} points
 */
function showPoints(list, points) {
  const field = list.parentElement;
  const form = list.closest("form");
  const shown = /** @type {HTMLInputElement | null} */ (field?.querySelector("[name$='-shown']"));
  const row = list.querySelector("li");
  if (!field || !form || !shown || !row) return;
  const name = shown.name.replace(/-shown$/, "");
  /** @type {NodeListOf<HTMLInputElement>} */
  const inputs = field.querySelectorAll(`[name^="${name}."]`);
  const written = Object.fromEntries([...inputs].map((input) => [input.name.slice(name.length + 1), input.value]));
  const now = [points[0] ?? "", points[points.length - 1] ?? ""];
  const words = moveEnds(written, shown.value.split(" "), now);
  const title = (row.querySelector("input")?.getAttribute("aria-label") ?? "").replace(/[^:]*$/, "");
  for (const input of inputs) if (!list.contains(input)) input.remove();
  // Rows that stay are not taken out and put back: whoever has just gone to one of them is still there.
  const rowByPoint = new Map([...list.children].map((each) => [each.querySelector(".point")?.textContent ?? "", each]));
  const template = row.cloneNode(true);
  for (const [point, each] of rowByPoint) if (!points.includes(point)) each.remove();
  points.forEach((point, index) => {
    const there = rowByPoint.get(point);
    const fresh = /** @type {HTMLElement} */ (there ?? template.cloneNode(true));
    if (!there) list.insertBefore(fresh, list.children[index] ?? null);
    const label = fresh.querySelector(".point");
    const input = fresh.querySelector("input");
    if (label) label.textContent = point;
    if (!input) return;
    input.name = `${name}.${point}`;
    input.setAttribute("aria-label", `${title} ${point}`);
    if (input.value !== (words[point] ?? "")) input.value = words[point] ?? "";
  });
  for (const point of Object.keys(words).filter((each) => words[each] && !points.includes(each))) {
    const unseen = document.createElement("input");
    Object.assign(unseen, { type: "hidden", name: `${name}.${point}`, value: words[point] });
    shown.before(unseen);
  }
  shown.value = now.join(" ");
}

// Other forms come in place of this one, so it is listened to from above.
globalThis.document?.addEventListener("change", (event) => {
  const form = event.target.closest("form");
  if (!form || !["setting_low", "setting_high"].includes(event.target.getAttribute("name") ?? "")) return;
  const [low, high] = ["setting_low", "setting_high"].map(
    (name) => /** @type {HTMLInputElement | null} */ (form.querySelector(`[name=${name}]`))?.value ?? "",
  );
  const points = pointsBetween(low ?? "", high ?? "");
  /** @type {NodeListOf<HTMLElement>} */
  const lists = form.querySelectorAll("[data-point-words]");
  if (points.length) for (const list of lists) showPoints(list, points);
});
