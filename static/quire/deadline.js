// Times after which something is said: a warning that stands in the page is seen from then on, until its own end.
function look() {
  const now = Date.now();
  /** @type {NodeListOf<HTMLElement>} */
  const warnings = document.querySelectorAll(".time-limit [data-from]");
  for (const warning of warnings) {
    const { from = "", until } = warning.dataset;
    warning.hidden = now < Date.parse(from) || (until !== undefined && now >= Date.parse(until));
  }
}
if (document.querySelector(".time-limit")) {
  look();
  setInterval(look, 15_000);
}
