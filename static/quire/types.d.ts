// What the type checker is told of Quire's pages. Nothing here reaches a browser.
// The pages hold HTML elements (and pictures, which no script touches), and events of a document happen at one of them.

type PageEvent<E extends Event> = E & { readonly target: HTMLElement };

interface Document {
  addEventListener<K extends keyof DocumentEventMap>(
    type: K,
    listener: (event: PageEvent<DocumentEventMap[K]>) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
}
interface HTMLElement {
  addEventListener<K extends keyof HTMLElementEventMap>(
    type: K,
    listener: (event: PageEvent<HTMLElementEventMap[K]>) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
}
interface ParentNode {
  querySelector<K extends keyof HTMLElementTagNameMap>(selectors: K): HTMLElementTagNameMap[K] | null;
  querySelector<E extends HTMLElement = HTMLElement>(selectors: string): E | null;
  querySelectorAll<K extends keyof HTMLElementTagNameMap>(selectors: K): NodeListOf<HTMLElementTagNameMap[K]>;
  querySelectorAll<E extends HTMLElement = HTMLElement>(selectors: string): NodeListOf<E>;
}
interface Element {
  closest<K extends keyof HTMLElementTagNameMap>(selector: K): HTMLElementTagNameMap[K] | null;
  closest<E extends HTMLElement = HTMLElement>(selectors: string): E | null;
}

// htmx 2: what its events bring, and the few things that are asked of it.
interface HtmxRequest {
  elt: HTMLElement;
  verb: string;
  timeout: number;
  parameters: FormData & { go?: string };
  triggeringEvent?: SubmitEvent & { submitter: HTMLButtonElement | null };
  n: number; // ours: the number of a save
}
interface HtmxDetail extends HtmxRequest {
  target?: HTMLElement;
  xhr: XMLHttpRequest;
  successful?: boolean;
  pathInfo: { requestPath: string };
  requestConfig?: HtmxRequest;
}
interface DocumentEventMap {
  "htmx:configRequest": CustomEvent<HtmxDetail>;
  "htmx:beforeSend": CustomEvent<HtmxDetail>;
  "htmx:beforeOnLoad": CustomEvent<HtmxDetail>;
  "htmx:afterRequest": CustomEvent<HtmxDetail>;
  "htmx:afterSwap": CustomEvent<HtmxDetail>;
  "htmx:oobAfterSwap": CustomEvent<HtmxDetail>;
  "htmx:afterSettle": CustomEvent<HtmxDetail>;
}
declare const htmx: {
  config: Record<string, unknown>;
  swap(target: string | Element, html: string, how: { swapStyle: string }): void;
};
