// What a screen reader is told of saving: what went wrong, what is only kept on this device, and that it is saved
// after all; of saves that go well the first one alone, since they follow every pause of typing. Decisions only.

/** @typedef {import("./queue.js").PageState} PageState */

/** @type {PageState[]} */
const TROUBLES = ["failed", "offline", "lost", "waiting"];

export class Announcer {
  isSavedNews = true;
  lastTrouble = "";
  lastDetail = "";

  /**
   * The words to announce of a state, or nothing.
   * @param {PageState} state
   * @param {string} words
   * @param {string} [detail] what is said beside that it is saved, as the number of blanks to check
   */
  take(state, words, detail = "") {
    if (TROUBLES.includes(state)) {
      const isNews = words !== this.lastTrouble;
      this.lastTrouble = words;
      this.isSavedNews = true;
      return isNews ? words : null;
    }
    if (state !== "saved" || !words) return null;
    const isNews = this.isSavedNews || detail !== this.lastDetail;
    this.isSavedNews = false;
    this.lastTrouble = "";
    this.lastDetail = detail;
    return isNews ? words : null;
  }
}
