// What is to be saved and when, and what the answer to a save means. Decisions only: nothing of the page and nothing of
// the network, so that it runs under Node too (tests/javascript). What happens on the page is in index.js.
//
// A saver is what is saved as one: an item, or a field of a cloze. Here it is only a key.

import { AUTOSAVE_DELAY, LONGEST_AUTOSAVE_DELAY, LONGEST_RETRY_DELAY, RETRY_DELAYS } from "./delays.js";

// What takes a save, or refuses it for good, says in a header that it is ours. A network's sign-in page or a proxy's
// apology does not, and counts as a gateway that failed.
export const SIGNATURE = "Quire-Saved";
// Which revision of its answer it became.
export const REVISION = "Quire-Revision";
// Why it was refused, where that decides what comes next.
export const REASON = "Quire-Reason";
const BAD_GATEWAY = 502;
const TOO_EARLY = 425;
const TOO_MANY = 429;
export const GONE = 410;
const CODES = new Map([
  ["paused", TOO_EARLY],
  ["revoked", GONE],
  ["withdrawn", GONE],
]);
const FINAL = [400, 409, GONE];
const DONE = 4; // the readyState of a request that has ended

/**
 * What a saver last said. The same words are the same save.
 * @typedef {object} Version
 * @property {string} words
 * @property {number} n number of the save
 * @property {boolean} [isKept] the device keeps a draft of it
 * @property {boolean} [isCommitted] the server has it
 */
/**
 * "Lost" is offline, and the device has not kept it either; "waiting" is too fast for the server, and kept.
 * @typedef {"failed" | "offline" | "lost" | "waiting"} FailureState
 */
/**
 * "Kept" waits for its save, and the device keeps it; "open" waits for it, and the device keeps nothing.
 * @typedef {FailureState | "kept" | "open" | "saving" | "saved"} PageState
 */
/** @typedef {{ times: number, state: FailureState }} Failure how often in a row, and what the page says of it */
/** @typedef {{ isFinal: true } | { isFinal: false, state: FailureState, delay: number }} Refusal */
/**
 * What became of a draft. Outdated: it was taken, and the page shows something older.
 * @typedef {"taken" | "outdated" | "foreign" | "refused" | "undelivered"} Outcome
 */

/**
 * The status of an answer as it counts here: a study that is paused takes it later, and whose part is ended never.
 * @param {number} status
 * @param {string | null} signature
 * @param {string | null} [reason]
 */
export function codeOf(status, signature, reason = null) {
  const code = CODES.get(reason ?? "");
  if (code) return code;
  const needsSignature = (status > 0 && status <= 400) || status === 409;
  return signature === null && needsSignature ? BAD_GATEWAY : status;
}

/** @param {number} code */
export const isTaken = (code) => code >= 200 && code < 400;

/**
 * What became of a draft that was delivered by hand, not by its form.
 * @param {number} code
 * @returns {Outcome}
 */
export function outcomeOf(code) {
  if (code >= 200 && code < 300) return "taken";
  // Nothing there for this reader: it is somebody else's, who works on this device too.
  if (code === 404) return "foreign";
  return FINAL.includes(code) ? "refused" : "undelivered";
}

/**
 * How many milliseconds to wait before what came too fast is sent again; 0 of any other answer.
 * @param {number} code
 * @param {string | null} retryAfter the header: whole seconds
 */
export function waitOf(code, retryAfter) {
  if (code !== TOO_MANY) return 0;
  return Math.min(Math.max(Number(retryAfter) || 1, 1) * 1000, LONGEST_RETRY_DELAY);
}

/**
 * The state of all saving on one page.
 * @template {object} Saver
 */
export class SaveQueue {
  /** @type {Map<Saver, ReturnType<typeof setTimeout>>} typed, not yet sent */
  timers = new Map();
  /** @type {Map<Saver, ReturnType<typeof setTimeout>>} the same, from the first stroke on, however long it goes on */
  limits = new Map();
  /** @type {Map<Saver, Failure>} */
  failures = new Map();
  /** @type {WeakMap<Saver, Version>} */
  versions = new WeakMap();
  /** @type {Map<{ readyState: number }, Saver>} */
  requests = new Map();
  /** @type {Set<Saver>} savers that are being left for the next question or the one before */
  moves = new Set();
  /** @type {Set<string>} keys of drafts that this page has shown to be in conflict or refused */
  settledDrafts = new Set();
  nSaves = 0;
  nDeliveries = 0; // of drafts, not ended yet
  nUndelivered = 0; // drafts of the last delivery that the server could not take yet
  delivery = Promise.resolve(); // the last one
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  nextDelivery;
  isTokenRenewed = false;
  isLeaving = false;
  isReleased = false; // all waiting before leaving has an end
  isWarned = false; // of drafts that could not be saved before the answers are submitted

  // ── Before sending ──

  nextNumber() {
    this.nSaves += 1;
    return this.nSaves;
  }

  /**
   * The version that a saver now holds.
   * @param {Saver} saver
   * @param {string} words
   */
  updateVersion(saver, words) {
    const last = this.versions.get(saver);
    if (last?.words === words) return last;
    /** @type {Version} */
    const version = { words, n: this.nextNumber() };
    this.versions.set(saver, version);
    return version;
  }

  /**
   * Whether a save can be left out: a field that waited for its turn may have been saved by the turn before.
   * @param {Saver} saver
   */
  isCommitted(saver) {
    return Boolean(this.versions.get(saver)?.isCommitted);
  }

  /**
   * Whether a saver of this page holds what a draft says, or newer words.
   * @param {Saver | undefined} saver
   * @param {number} n
   */
  holds(saver, n) {
    const version = saver && this.versions.get(saver);
    return version !== undefined && version.n >= n;
  }

  /**
   * Send some time after the last stroke, and at the latest some time after the first.
   * @param {Saver} saver
   * @param {(saver: Saver) => void} send
   */
  schedule(saver, send) {
    clearTimeout(this.timers.get(saver));
    this.timers.set(
      saver,
      setTimeout(() => send(saver), AUTOSAVE_DELAY),
    );
    if (this.limits.has(saver)) return;
    this.limits.set(
      saver,
      setTimeout(() => send(saver), LONGEST_AUTOSAVE_DELAY),
    );
  }

  /** @param {Saver} saver */
  cancel(saver) {
    for (const timers of [this.timers, this.limits]) {
      clearTimeout(timers.get(saver));
      timers.delete(saver);
    }
  }

  // ── The answer to a save ──

  /**
   * @param {Saver} saver
   * @param {number} n
   */
  accept(saver, n) {
    this.failures.delete(saver);
    this.isTokenRenewed = false;
    const version = this.versions.get(saver);
    if (version?.n === n) version.isCommitted = true;
  }

  /**
   * What a save that was not taken means: refused for good, or to be tried again, and when.
   * @param {Saver} saver
   * @param {string} draftKey
   * @param {number} code
   * @param {string | null} [retryAfter]
   * @returns {Refusal}
   */
  refuse(saver, draftKey, code, retryAfter = null) {
    if (FINAL.includes(code)) {
      // The page says why, or shows both versions; sending the same again would change nothing.
      this.settledDrafts.add(draftKey);
      this.failures.delete(saver);
      return { isFinal: true };
    }
    const times = this.failures.get(saver)?.times ?? 0;
    const wait = waitOf(code, retryAfter);
    if (wait) {
      // Nothing has failed: the next try comes when the server said.
      const state = this.versions.get(saver)?.isKept ? "waiting" : "failed";
      this.failures.set(saver, { times, state });
      return { isFinal: false, state, delay: wait };
    }
    /** @type {FailureState} */
    let state = "failed";
    const isKept = this.versions.get(saver)?.isKept;
    if (code === 0) state = isKept ? "offline" : "lost";
    if (code === TOO_EARLY && isKept) state = "waiting";
    this.failures.set(saver, { times: times + 1, state });
    return { isFinal: false, state, delay: RETRY_DELAYS[times] ?? LONGEST_RETRY_DELAY };
  }

  // ── The page as a whole ──

  isSending() {
    // Of a save that fails after its form has gone, no event tells the end.
    for (const request of this.requests.keys()) if (request.readyState === DONE) this.requests.delete(request);
    return this.requests.size > 0;
  }

  isPending() {
    return this.isSending() || this.timers.size > 0;
  }

  /**
   * “Saved” is said of the page: not while something else on it is on its way, or could not be saved.
   * @returns {PageState}
   */
  pageState() {
    const [failure] = this.failures.values();
    if (failure) return failure.state;
    if (this.nUndelivered) return "failed";
    if (this.isSending()) return "saving";
    if (!this.timers.size) return "saved";
    return [...this.timers.keys()].every((saver) => this.versions.get(saver)?.isKept) ? "kept" : "open";
  }

  /**
   * What the page makes of a delivery of drafts.
   * @param {Outcome[]} outcomes
   */
  closeDelivery(outcomes) {
    const hadUndelivered = this.nUndelivered > 0;
    this.nUndelivered = outcomes.filter((outcome) => outcome === "undelivered").length;
    const isQuiet = !this.failures.size && !this.isPending() && !outcomes.includes("refused");
    return {
      isIncomplete: this.nUndelivered > 0,
      isCompleteAtLast: this.nUndelivered === 0 && hadUndelivered && isQuiet,
      // What this page shows is older than what is now saved. A reload would take back a link just followed.
      mustReload: outcomes.includes("outdated") && !this.isPending() && !this.isLeaving,
    };
  }

  // ── Leaving ──

  /**
   * Whether leaving waits. What is about to be submitted must have arrived; a link leaves it to the next page.
   * @param {{ isSubmitting: boolean, isReview: boolean }} departure
   */
  mustWait({ isSubmitting, isReview }) {
    if (this.isReleased) return false;
    return this.isPending() || (isSubmitting && this.nDeliveries > 0) || this.mustWarn({ isSubmitting, isReview });
  }

  /**
   * Whether to say, once, that something is not saved before all of it is submitted.
   * @param {{ isSubmitting: boolean, isReview: boolean }} departure
   */
  mustWarn({ isSubmitting, isReview }) {
    return isSubmitting && isReview && this.nUndelivered > 0 && !this.isWarned;
  }

  /** Whether closing the page loses words: they are not saved and the device has not kept them. */
  isAtRisk() {
    const unsaved = [...this.failures.keys(), ...this.timers.keys(), ...this.requests.values()];
    return unsaved.some((saver) => this.versions.get(saver)?.isKept === false);
  }
}

/** @type {SaveQueue<HTMLElement>} the one of this page */
export const queue = new SaveQueue();
