"""Scripts that tell how large fields are, and which of them the page itself measures."""

# Which fields are measured from now on, and whether the answer to a save has been put into the page.
NOTE_MEASURED = """() => {
  const tall = Object.getOwnPropertyDescriptor(Element.prototype, "scrollHeight").get;
  Object.assign(window, { measured: new Set(), isSettled: false });
  Object.defineProperty(Element.prototype, "scrollHeight", {
    get() {
      window.measured.add(this.id);
      return tall.call(this);
    },
  });
  addEventListener("htmx:afterRequest", () => requestAnimationFrame(() => { window.isSettled = true; }));
}"""
# In pixels, what of a field's text lies outside of it.
HIDDEN = "field => Math.max(field.scrollHeight - field.clientHeight, field.scrollWidth - field.clientWidth)"
