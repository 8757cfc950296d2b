// Where one is in the story, as a paragraph and how far into it, so that another device and another width open it
// there. The server keeps it; it is told when one has rested, and on leaving, and never while answers are saved.
import { queue } from "./autosave/queue.js";
import { csrfToken, required } from "./dom.js";

/**
 * The first paragraph in view, from 1, and the thousandths of it that are above.
 * @typedef {{ paragraph: number, offset: number }} Position
 */

const REST = 4000; // milliseconds without scrolling
// So long what was told on leaving may still be on its way while the next page is already there.
const ON_ITS_WAY = 30_000;
const NOTE = "quire-position";
const wide = matchMedia("(width >= 64rem)"); // the pane scrolls, not the page

/** @param {Position} a @param {Position} b */
const isSame = (a, b) => a.paragraph === b.paragraph && a.offset === b.offset;

export class StoryPosition {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer;
  isRestored = false;
  hasMoved = false;

  /**
   * @param {HTMLElement} desk
   * @param {HTMLElement} pane
   */
  constructor(desk, pane) {
    this.url = desk.dataset.positions ?? "";
    this.pane = pane;
    /** @type {HTMLElement[]} */
    this.paragraphs = [...pane.querySelectorAll(".story > p[id]")];
    const { paragraph, offset } = desk.dataset;
    /** @type {Position} */
    this.here = this.takeNote() ?? { paragraph: Number(paragraph) || 1, offset: Number(offset) || 0 };
    this.told = this.here;
    if (this.url) this.listen();
  }

  listen() {
    const rest = () => this.rest();
    const move = () => {
      this.hasMoved = true;
    };
    for (const sign of ["wheel", "touchmove", "keydown", "pointerdown"]) {
      document.addEventListener(sign, move, { passive: true, once: true });
    }
    this.pane.addEventListener("scroll", rest, { passive: true });
    document.addEventListener("scroll", rest, { passive: true });
    document.addEventListener("visibilitychange", () => document.hidden && this.tellLeaving());
    addEventListener("pagehide", () => this.tellLeaving());
  }

  /** The line at which reading begins: the upper edge of what shows the story. */
  edge() {
    if (wide.matches) return this.pane.getBoundingClientRect().top;
    const tabs = required(".tabs");
    return getComputedStyle(tabs).position === "sticky" ? tabs.offsetHeight : 0;
  }

  /** Look where one is; on small screens only while the story is up. */
  look() {
    if (!this.isRestored || !this.pane.offsetParent || !this.paragraphs.length) return;
    const edge = this.edge();
    const at = this.paragraphs.findIndex((paragraph) => paragraph.getBoundingClientRect().bottom > edge);
    const index = at < 0 ? this.paragraphs.length - 1 : at;
    const box = this.paragraphs[index].getBoundingClientRect();
    const share = Math.round((1000 * (edge - box.top)) / box.height);
    this.here = { paragraph: index + 1, offset: Math.min(Math.max(share, 0), 1000) };
  }

  /** Show the story where one was. */
  restore() {
    if (!this.pane.offsetParent) return;
    this.isRestored = true;
    const { paragraph, offset } = this.here;
    const target = this.paragraphs[Math.min(paragraph, this.paragraphs.length) - 1];
    const scroller = wide.matches ? this.pane : document.scrollingElement;
    if (!target || !scroller) return;
    if (paragraph === 1 && offset === 0) scroller.scrollTop = 0;
    else {
      const box = target.getBoundingClientRect();
      scroller.scrollTop += box.top + (box.height * offset) / 1000 - this.edge();
    }
  }

  /** The same once the fonts are there, which make paragraphs longer or shorter; not if one reads on by then. */
  restoreUnlessMoved() {
    if (!this.hasMoved) this.restore();
  }

  rest() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tell(), REST);
  }

  body() {
    const report = new FormData();
    report.set("csrfmiddlewaretoken", csrfToken());
    for (const [name, value] of Object.entries(this.here)) report.set(name, String(value));
    return report;
  }

  /** What is to be told, if anything is. */
  takeNews() {
    clearTimeout(this.timer);
    this.look();
    if (isSame(this.here, this.told)) return null;
    this.told = this.here;
    return this.body();
  }

  async tell() {
    if (queue.isPending()) {
      this.rest();
      return;
    }
    const last = this.told;
    const body = this.takeNews();
    if (!body) return;
    const how = /** @type {const} */ ({ method: "POST", keepalive: true, redirect: "error", priority: "low" });
    // Not heard: it is told with the next one.
    await fetch(this.url, { ...how, body }).catch(() => {
      this.told = last;
    });
  }

  tellLeaving() {
    const body = this.takeNews();
    if (!body) return;
    navigator.sendBeacon(this.url, body);
    this.note();
  }

  // ── For the same page at once, which may be asked for before the server has heard of it ──

  note() {
    try {
      sessionStorage.setItem(NOTE, JSON.stringify({ url: this.url, at: Date.now(), ...this.here }));
    } catch {
      // A browser may refuse storage altogether; then the page opens where the server knows one was.
    }
  }

  /** @returns {Position | null} */
  takeNote() {
    try {
      const { url, at, paragraph, offset } = JSON.parse(sessionStorage.getItem(NOTE) ?? "{}");
      sessionStorage.removeItem(NOTE);
      return url === this.url && Math.abs(Date.now() - at) < ON_ITS_WAY ? { paragraph, offset } : null;
    } catch {
      return null;
    }
  }
}
