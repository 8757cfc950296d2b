// Answers that the server has said to have, until their group is submitted. A server that comes back with an older copy
// of its database says on its pages which revisions it has; what is newer here is sent again, as drafts are.
import { attempt, LIFETIME } from "./drafts.js";

const PREFIX = "quire-saved ";

/** @typedef {import("./drafts.js").Draft & { revision: number }} Acknowledged */

/** @returns {Acknowledged[]} */
function all() {
  const names = attempt(() => Object.keys(localStorage)) ?? [];
  return names.filter((name) => name.startsWith(PREFIX)).map((name) => JSON.parse(localStorage.getItem(name) ?? "{}"));
}

/**
 * Remember a save that was taken, with the revision that it became.
 * @param {Omit<import("./drafts.js").Draft, "at">} draft
 * @param {string | null} revision none of an answer that is kept without a history
 */
export function note({ path, page, n, fields }, revision) {
  if (!revision) return;
  const saved = { path, page, n, fields, revision: Number(revision), at: Date.now() };
  attempt(() => localStorage.setItem(PREFIX + path, JSON.stringify(saved)));
}

/** @param {string} start of the addresses of what is forgotten; of all, if empty */
export function forget(start = "") {
  const forgotten = all().filter(({ path }) => path.startsWith(start));
  for (const { path } of forgotten) attempt(() => localStorage.removeItem(PREFIX + path));
  return forgotten.length > 0;
}

/** What the server does not have as this page came, oldest first. */
function findMissing() {
  const known = document.getElementById("revisions");
  if (!known) return [];
  /** @type {{ prefix: string, within: string, revisions: Record<string, number> }} */
  const { prefix, within, revisions } = JSON.parse(known.textContent ?? "");
  return all()
    .filter(({ path }) => path.startsWith(prefix + within))
    .filter(({ path, revision }) => revision > (revisions[path.slice(prefix.length)] ?? 0))
    .sort((a, b) => a.at - b.at);
}

let missing = findMissing();

/** Those of them that have not been delivered yet. */
export const undelivered = () => missing;

/** @param {import("./drafts.js").Draft} draft */
export function settle(draft) {
  missing = missing.filter((saved) => saved !== draft);
}

// Nothing stays of what nobody came back to for a month, nor of what this page says to be submitted.
for (const { path, at } of all()) if (Date.now() - at > LIFETIME) forget(path);
/** @type {NodeListOf<HTMLElement>} */
const submitted = document.querySelectorAll("[data-submitted]");
for (const { dataset } of submitted) forget(dataset.submitted);
