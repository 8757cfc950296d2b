// A report was one page once: an address that names a place in it leads to the page on which that stands now.
const key = location.hash.slice(1).replace(/(-h?\d+)+$/, "");
const moved = key ? document.querySelector(`[data-moved]#${CSS.escape(key)} a`) : null;
if (moved instanceof HTMLAnchorElement) location.replace(moved.href);
