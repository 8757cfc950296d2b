"""The designer's pages of one study that need seats, raters or the raters' own pages."""

from django.urls import path

from annotation.views.designer import (
    addresses,
    answer_imports,
    applications,
    changes,
    launch,
    mails,
    monitor,
    payments,
    people,
    prolific,
    rater_information,
    reading_plan,
    rehearsals,
    steps,
)

app_name = "designer"
urlpatterns = [
    path("steps/", steps.steps, name="steps"),
    path("steps/new/<slug:kind>/", steps.new_step, name="new_step"),
    path("steps/<int:step_id>/", steps.step, name="step"),
    path("steps/<int:step_id>/preview/", steps.step_preview, name="step_preview"),
    path("information/", rater_information.rater_information, name="rater_information"),
    path("information/preview/", rater_information.arrival_preview, name="arrival_preview"),
    path("reading-plan/", reading_plan.reading_plan, name="reading_plan"),
    path("rehearsal/", rehearsals.rehearsal_page, name="rehearsal"),
    path("launch/", launch.launch_page, name="launch"),
    path("changes/", changes.changes, name="changes"),
    path("people/", people.people_page, name="people"),
    path("people/new/", people.add_people, name="add_people"),
    path("people/letters/", mails.letters, name="letters"),
    path("people/prolific/", prolific.prolific_page, name="prolific"),
    path("people/applications/", applications.applications_page, name="applications"),
    path("people/applications/<int:number>/", applications.application, name="application"),
    path("people/<int:person>/", people.person, name="person"),
    path("addresses/", addresses.addresses, name="addresses"),
    path("addresses/applicants/", applications.applicants, name="applicants"),
    path("addresses/<int:person>/", addresses.address, name="address"),
    path("payments/", payments.ledger, name="payments"),
    path("payments/table/", payments.ledger_file, name="ledger_file"),
    path("payments/prolific/", payments.prolific_file, name="prolific_file"),
    path("payments/of/<slug:rater>/", payments.account, name="account"),
    path("answers/", answer_imports.index, name="answer_imports"),
    path("answers/<int:file_id>/", answer_imports.show, name="answer_import"),
    path("answers/mappings/<int:record>/", answer_imports.mapping_file, name="answer_mapping"),
    path("monitor/", monitor.monitor_page, name="monitor"),
    path("monitor/<slug:code>/", monitor.place, name="place"),
]
