"""Where the parts of a study stand: pages of the apps above are named, never imported."""

from django.urls import NoReverseMatch, reverse

# A part as the rail and the findings call it, and the name of its page.
PAGES = {
    "overview": "studies:overview",
    "steps": "designer:steps",
    "stories": "studies:stories",
    "reading_plan": "designer:reading_plan",
    "rater_information": "designer:rater_information",
    "analysis_plan": "studies:analysis_plan",
    "rehearsal": "designer:rehearsal",
    "launch": "designer:launch",
    "changes": "designer:changes",
    "people": "designer:people",
    "prolific": "designer:prolific",
    "applications": "designer:applications",
    "monitor": "designer:monitor",
    "report": "reports:show",
    "rehearsal_report": "reports:rehearsal",
    "simulation": "reports:simulation",
}


def find_page(slug: str, part: str, anchor: str = "") -> str:
    """The address of that part of the study; of its overview, if the part has no page of its own here."""
    try:
        address = reverse(PAGES[part], args=[slug])
    except NoReverseMatch:
        return reverse(PAGES["overview"], args=[slug])
    return f"{address}#{anchor}" if anchor else address
