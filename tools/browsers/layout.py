"""What is looked for on every page, in every browser, at every width: what is cut, slid away or beside the window."""

from tools.browsers.windows import Window

LOOK = """
  const faults = [];
  const root = document.documentElement;
  const isSeen = (element) => element.getClientRects().length > 0;
  const nameOf = (element) => element.id ? `#${element.id}` : element.textContent.trim().slice(0, 40);
  if (root.scrollWidth > innerWidth + 1) faults.push(`the page is ${root.scrollWidth} pixels wide`);
  for (const field of document.querySelectorAll("textarea, input[type=text]")) {
    if (!isSeen(field)) continue;
    if (field.scrollHeight > field.clientHeight + 3) faults.push(`${nameOf(field)} hides lines of its text`);
    if (field.scrollWidth > field.clientWidth + 3) faults.push(`${nameOf(field)} cuts its text`);
  }
  for (const button of document.querySelectorAll("button")) {
    if (!isSeen(button)) continue;
    if (button.scrollWidth > button.clientWidth + 3) faults.push(`the button ${nameOf(button)} cuts its words`);
  }
  const masthead = document.querySelector(".masthead");
  if (document.body.matches(".reading") && innerWidth >= 1024) {
    if (root.scrollHeight > innerHeight + 1) faults.push(`the desk is ${root.scrollHeight} pixels high`);
    const { top } = masthead.getBoundingClientRect();
    if (root.scrollTop || document.body.scrollTop || top) faults.push("the desk has slid");
  }
  if (masthead && innerWidth >= 1024 && masthead.offsetHeight > 72) faults.push("the masthead has two rows");
  return faults;
"""


def find_faults(window: Window) -> list[str]:
    """What is wrong with the page as the window shows it, each in words."""
    return list(window.evaluate(LOOK))
