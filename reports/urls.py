"""Reports: who may see what a study amounts to is said in each view's first line."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from reports.page.sections import SECTIONS
from reports.views import (
    drawings,
    filled_sections,
    further_study,
    lab,
    methods,
    norms,
    packages,
    pages,
    raters,
    rationales,
    rehearsals,
    replications,
    schedule,
    simulations,
    stored,
    stories,
    tables,
    themes,
)
from reports.views.table_files import TableEnding


class SectionConverter(StringConverter):
    """The key of a section of a report."""

    regex = "|".join(SECTIONS)


register_converter(SectionConverter, "section")
register_converter(TableEnding, "ending")
app_name = "reports"
urlpatterns = [
    path("", lab.index, name="index"),
    # No slug of a study begins with a line.
    path("-schedule/", schedule.schedule, name="schedule"),
    path("-instruments/<slug:asked>/", norms.show, name="instrument_norms"),
    # What can be taken away: published studies, plots, stored reports, and what a paper says of the study.
    path("replications/", replications.index, name="replications"),
    path("replications/<slug:name>/", replications.show, name="replication"),
    path("<slug:slug>/methods/", methods.show, name="methods"),
    path("<slug:slug>/methods.txt", methods.paragraph, name="methods_paragraph"),
    path("<slug:slug>/methods.tex", methods.document, name="methods_document"),
    path("<slug:slug>/<slug:plot>.svg", drawings.svg, name="plot_svg"),
    path("<slug:slug>/<slug:plot>.png", drawings.png, name="plot_png"),
    path("<slug:slug>/summary.pdf", drawings.summary_pdf, name="summary_pdf"),
    path("<slug:slug>/<slug:table>.tex", methods.table, name="table_tex"),
    path("<slug:slug>/by/<slug:fingerprint>/", stored.show, name="stored"),
    path("<slug:slug>/by/<slug:fingerprint>/<section:page>/", stored.show, name="stored_section"),
    path("<slug:slug>/by/<slug:fingerprint>/figures/<slug:figure>/", stored.show, name="stored_figure"),
    path("<slug:slug>/by/<slug:fingerprint>/<slug:plot>.svg", drawings.svg, name="stored_svg"),
    path("<slug:slug>/by/<slug:fingerprint>/<slug:plot>.png", drawings.png, name="stored_png"),
    path("<slug:slug>/by/<slug:fingerprint>/summary.pdf", drawings.summary_pdf, name="stored_summary_pdf"),
    path("<slug:slug>/by/<slug:fingerprint>/<slug:table>.<ending:ending>", stored.table, name="stored_table"),
    path("<slug:slug>/", pages.show, name="show"),
    path("<slug:slug>/further-study/", further_study.further_study, name="further_study"),
    path("<slug:slug>/<section:page>/", pages.show, name="section"),
    path("<slug:slug>/figures/<slug:figure>/", pages.show, name="figure"),
    path("<slug:slug>/anew/", pages.compute_anew, name="compute_anew"),
    path("<slug:slug>/rehearsal/", rehearsals.show, name="rehearsal"),
    path("<slug:slug>/simulation/", simulations.show, name="simulation"),
    path("<slug:slug>/norms/", norms.share, name="share_norms"),
    path("<slug:slug>/exports/", packages.exports, name="exports"),
    path("<slug:slug>/exports/<slug:sha256>.zip", packages.package, name="package"),
    path("<slug:slug>/rationales/", rationales.index, name="rationales"),
    path("<slug:slug>/rationales/story/<int:story>/", rationales.story, name="rationales_of_story"),
    path("<slug:slug>/rationales/group/<int:group>/", rationales.group, name="rationales_of_group"),
    path("<slug:slug>/rationales/<int:response>/", rationales.reason, name="rationale"),
    path("<slug:slug>/story-list/", stories.story_list, name="story_list"),
    path("<slug:slug>/story/<int:story>/", stories.story, name="story"),
    path("<slug:slug>/rater-list/", raters.rater_list, name="rater_list"),
    path("<slug:slug>/rater/<int:rater_id>/", raters.rater, name="rater"),
    path("<slug:slug>/fills/<int:section>/", filled_sections.show, name="filled_section"),
    path("<slug:slug>/themes/", themes.codebook, name="themes"),
    path("<slug:slug>/themes/<int:sample>/", themes.sample, name="theme_sample"),
    path("<slug:slug>/themes/<int:sample>/reasons.csv", themes.reasons, name="theme_reasons"),
    path("<slug:slug>/themes/<int:sample>/<int:number>/", themes.code, name="code_reason"),
    path("<slug:slug>/responses_long.<ending:ending>", tables.responses_long, name="responses_long"),
    path("<slug:slug>/codebook.<ending:ending>", tables.codebook, name="codebook"),
    path("<slug:slug>/<slug:table>.<ending:ending>", tables.table, name="table"),
]
