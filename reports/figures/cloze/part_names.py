"""What figures about filled texts call their parts."""

from django.utils.translation import gettext_lazy

from studies.documents.analysis_plan import ALL_TEXTS, OF_MODELS, OF_PEOPLE, SHORTLISTED

WITHOUT_OUTLIERS, LEAVE_ONE_OUT = "without_outliers", "leave_one_out"

# Whose fills say what is usual.
REFERENCES = {
    OF_MODELS: gettext_lazy("all texts by models"),
    ALL_TEXTS: gettext_lazy("all texts"),
    OF_PEOPLE: gettext_lazy("all texts by people"),
    SHORTLISTED: gettext_lazy("the shortlisted texts"),
    WITHOUT_OUTLIERS: gettext_lazy("without outliers"),
    LEAVE_ONE_OUT: gettext_lazy("each held against the others"),
}
# The six forms of the score.
FORMS = {
    "C1": gettext_lazy("C, λ 1 (main)"),
    "C0.5": gettext_lazy("C, λ ½"),
    "C1.5": gettext_lazy("C, λ 1½"),
    "A": gettext_lazy("A, satisfies^1.5 × surprises"),
    "B": gettext_lazy("B, harmonic mean"),
    "D": gettext_lazy("D, geometric mean"),
}
