"""The analysis plan: read strictly, kept with the study, frozen with its protocol, shown and registered."""

import json
import re
from pathlib import Path

import pytest
from django.db import DatabaseError, transaction
from django.test import Client

from studies import loader, protocol
from studies.documents.analysis_plan import FAST, NAMED_RATERS, AnalysisPlan
from studies.models import Step, Study
from studies.protocol import drafts
from studies.protocol.preregistration import write_preregistration
from studies.protocol.prose import ProseFacts, write_prose
from tests import factories
from tests.studies.folders import STUDY, folder, refused

pytestmark = pytest.mark.django_db

PLAN = AnalysisPlan(outcome="tests/item-1", reference="Source 1", margin=5.0, hypotheses="People write better.")
BAD = {
    "another key": ('outcom = "verdicts"', "outcom: there is no such key; did you mean “outcome”?"),
    "no outcome": ('reference = "Ann"', "outcome: is missing or empty"),
    "no reference": (
        'outcome = "verdicts"',
        "reference: is missing; name the source, or say contrasts = “every_pair” or “named_pairs”",
    ),
    "pairs that are none": (
        'outcome = "verdicts"\ncontrasts = "named_pairs"\npairs = [["Ann", "Ann"]]',
        "pairs: “Ann” – “Ann” is no pair; name two different sources",
    ),
    "a pair twice": (
        'outcome = "verdicts"\ncontrasts = "named_pairs"\npairs = [["Ann", "Bob"], ["Bob", "Ann"]]',
        "pairs: “Bob” – “Ann” stands there twice",
    ),
    "no list of pairs": (
        'outcome = "verdicts"\ncontrasts = "named_pairs"\npairs = "Ann, Bob"',
        'pairs: must be a list of pairs, as [["Ann", "GPT-4"], ["Bob", "GPT-4"]]',
    ),
    "no pairs where only they count": (
        'outcome = "verdicts"\ncontrasts = "named_pairs"',
        "pairs: is missing; name the pairs, or say contrasts = “every_pair”",
    ),
    "pairs where all count": (
        'outcome = "verdicts"\ncontrasts = "every_pair"\npairs = [["Ann", "Bob"]]',
        "pairs: every two sources are compared already; leave it out, or say contrasts = “named_pairs”",
    ),
    "a margin of nothing": (
        'outcome = "verdicts"\nreference = "Ann"\nmargin = 0',
        "margin: must be larger than 0, in units of the outcome",
    ),
    "a margin below nothing": (
        'outcome = "verdicts"\nreference = "Ann"\nmargin = -2.5',
        "margin: must be larger than 0, in units of the outcome",
    ),
    "a margin that is none": (
        'outcome = "verdicts"\nreference = "Ann"\nmargin = true',
        "margin: must be a number, not true or false",
    ),
    "epsilon of 1": (
        'outcome = "verdicts"\nreference = "Ann"\nepsilon = 1',
        "epsilon: must be larger than 0 and smaller than 1, as .2",
    ),
    "a secondary outcome that is the primary one": (
        'outcome = "verdicts"\nreference = "Ann"\nsecondary = ["verdicts"]',
        "secondary: “verdicts” is the primary outcome; leave it out here",
    ),
    "a pace of nothing": (
        'outcome = "verdicts"\nreference = "Ann"\nexclude_faster_than = 0',
        "exclude_faster_than: must be larger than 0, in words of story a minute, as 600",
    ),
    "straight-lining of something else": (
        'outcome = "verdicts"\nreference = "Ann"\nexclude_straight_lining = "always"',
        "exclude_straight_lining: “always” is not one of story, all_stories",
    ),
    "raters that are no list": (
        'outcome = "verdicts"\nreference = "Ann"\nexclude_raters = "A1"',
        "exclude_raters: must be a list of codes of raters, as [“A1”, “A2”], not text",
    ),
    "a rule that is no rule": (
        'outcome = "verdicts"\nreference = "Ann"\nexclude_recognised = "yes"',
        "exclude_recognised: must be true or false, not text",
    ),
    "another test": (
        'outcome = "verdicts"\nreference = "Ann"\ntest = "z"',
        "test: “z” is not one of model, default, means, ranks",
    ),
}


@pytest.fixture
def draft() -> Study:
    """A draft of two sources whose raters answer one question Yes or No, and put the stories in order."""
    return factories.study("plums", n_groups=2, n_stories=2, n_items=1, state="draft", planned=False)


def with_plan(tmp_path: Path, plan: str) -> Path:
    return folder(tmp_path, study=f"{STUDY}\n[analysis_plan]\n{plan}\n")


@pytest.mark.parametrize("name", BAD)
def test_a_plan_that_cannot_be_read_is_refused_with_the_file(name: str, tmp_path: Path) -> None:
    plan, sentence = BAD[name]

    with refused(f"study.toml: analysis_plan, {sentence}"):
        loader.load_study(with_plan(tmp_path, plan))


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ('outcome = "verdicts"\nreference = "Anne"', "reference: no story is by “Anne”; did you mean “Ann”?"),
        (
            'outcome = "verdicts"\ncontrasts = "named_pairs"\npairs = [["Ann", "Boob"]]',
            "pairs: no story is by “Boob”; did you mean “Bob”?",
        ),
        ('outcome = "verdict"\nreference = "Ann"', "outcome: there is no outcome “verdict”; did you mean “verdicts”?"),
        (
            'outcome = "verdicts"\nreference = "Ann"\nsecondary = ["verdict"]',
            "secondary: there is no outcome “verdict”; did you mean “verdicts”?",
        ),
        (
            'outcome = "verdicts"\nreference = "Ann"\nexclude_failed_checks = true',
            "exclude_failed_checks: the protocol has no comprehension check; add one to its steps, or leave the rule "
            "out",
        ),
        (
            'outcome = "verdicts"\nreference = "Ann"\nexclude_straight_lining = "all_stories"',
            "exclude_straight_lining: no scale is asked about a story; leave the rule out",
        ),
    ],
)
def test_a_plan_that_names_what_the_study_lacks_is_refused(plan: str, sentence: str, tmp_path: Path) -> None:
    with refused(f"study.toml: analysis_plan: {sentence}"):
        loader.load_study(with_plan(tmp_path, plan))


def test_a_plan_from_a_file_is_the_studys(tmp_path: Path) -> None:
    study = loader.load_study(with_plan(tmp_path, 'outcome = "verdicts"\nreference = "Ann"\nmargin = 5'))

    assert protocol.drafted_plan(study) == AnalysisPlan(outcome="verdicts", reference="Ann", margin=5.0)
    assert study.analysis_plan == {"outcome": "verdicts", "reference": "Ann", "margin": 5.0}


def test_rules_from_a_file_are_the_studys_and_are_registered(tmp_path: Path) -> None:
    rules = 'exclude_faster_than = 600\nexclude_raters = ["A1", "A2"]'
    plan = f'outcome = "verdicts"\nreference = "Ann"\n{rules}\nexclusions = "Whoever calls it off."'

    study = loader.load_study(with_plan(tmp_path, plan))

    drafted = protocol.drafted_plan(study)
    assert drafted is not None
    assert drafted.rules == (FAST, NAMED_RATERS)
    _before, exclusions = write_preregistration(study, drafted).split("## Exclusions\n")
    assert exclusions.splitlines()[1:6] == [
        "- Left out: raters who read more than 600 words of story a minute.",
        "- Left out: raters by code: A1, A2.",
        "- The planned contrasts are computed without what a rule leaves out; each is reported with all answers as "
        "well. All other results but the specification curve count all answers.",
        "",
        "Whoever calls it off.",
    ]


def test_the_frozen_document_holds_a_plan_only_if_there_is_one(draft: Study) -> None:
    without = protocol.write_document(protocol.load_protocol(protocol.draft(draft)))
    protocol.save_plan(draft, PLAN)

    version = factories.freeze(draft)

    document = json.loads(version.document)
    plan = document.pop("analysis_plan")
    assert document == json.loads(without)
    assert plan == {
        "outcome": "tests/item-1",
        "reference": "Source 1",
        "margin": 5.0,
        "hypotheses": "People write better.",
    }
    assert protocol.frozen_plan(draft) == PLAN


def test_the_form_keeps_rules_shows_them_again_and_says_which_cannot_apply(client: Client, draft: Study) -> None:
    client.force_login(factories.staff("designer"))
    Study.objects.filter(pk=draft.pk).update(asks_recognition=False)
    address = "/studies/plums/analysis-plan/"
    fields = {"outcome": "tests/item-1", "contrasts": "every_pair", "test": "model", "epsilon": "0.2"}
    rules = {"exclude_faster_than": "500", "exclude_raters": "A1,  A2\nA1", "exclusions": "Whoever calls it off."}

    refusals = [
        client.post(address, fields | {"exclude_recognised": "on"}),
        client.post(address, fields | {"exclude_failed_checks": "on"}),
        client.post(address, fields | {"exclude_stories": "no-such-story"}),
        client.post(address, fields | {"secondary": "tests/item-1"}),
    ]
    planned = client.post(address, fields | rules)

    assert [response.status_code for response in refusals] == [400] * 4
    assert [next(iter(response.context["form"].errors)) for response in refusals] == [
        *("exclude_recognised", "exclude_failed_checks", "exclude_stories", "secondary"),
    ]
    assert planned.status_code == 302
    draft.refresh_from_db()
    assert draft.analysis_plan == {
        "outcome": "tests/item-1",
        "contrasts": "every_pair",
        "test": "model",
        "exclude_faster_than": 500.0,
        "exclude_raters": ["A1", "A2"],
        "exclusions": "Whoever calls it off.",
    }
    assert 'value="A1, A2"' in client.get(address).content.decode()


def test_a_frozen_plan_never_changes(draft: Study) -> None:
    protocol.save_plan(draft, PLAN)
    factories.freeze(draft)

    with pytest.raises(protocol.PlanFrozen):
        protocol.save_plan(draft, None)
    with pytest.raises(DatabaseError, match="by an amendment only"), transaction.atomic():
        Study.objects.update(analysis_plan={})

    assert protocol.frozen_plan(draft) == PLAN


def test_pairs_are_ticked_frozen_and_registered(client: Client) -> None:
    study = factories.study("plums", n_groups=2, n_stories=3, n_items=1, state="draft", planned=False)
    client.force_login(factories.staff("designer"))
    fields = {"outcome": "tests/item-1", "contrasts": "named_pairs", "test": "default", "epsilon": "0.2"}

    missing = client.post("/studies/plums/analysis-plan/", fields)
    planned = client.post("/studies/plums/analysis-plan/", fields | {"pairs": ['["Source 2", "Source 3"]']})
    form = client.get("/studies/plums/analysis-plan/").content.decode()
    factories.freeze(study)
    text = client.get("/studies/plums/analysis-plan.md").content.decode()

    assert (missing.status_code, planned.status_code) == (400, 302)
    assert "is missing; name the pairs" in missing.content.decode()
    assert re.findall(r'value="\[(.*?)\]"[^>]*checked', form) == ["&quot;Source 2&quot;, &quot;Source 3&quot;"]
    study.refresh_from_db()
    plan = protocol.frozen_plan(study)
    assert plan == AnalysisPlan(outcome="tests/item-1", contrasts="named_pairs", pairs=(("Source 2", "Source 3"),))
    assert "## Contrasts and tests\n\n- Source 2 against Source 3.\n- Unit" in text


def test_a_plan_that_the_study_has_outgrown_stands_in_the_way_of_freezing(draft: Study) -> None:
    Study.objects.update(analysis_plan={"outcome": "tests/item-9", "reference": "Source 1"})
    draft.refresh_from_db()

    with pytest.raises(protocol.NotPlannable, match="there is no outcome “tests/item-9”; did you mean"):
        factories.freeze(draft)


def test_the_form_plans_says_what_is_wrong_and_plans_nothing(client: Client, draft: Study) -> None:
    client.force_login(factories.staff("designer"))
    fields = {"outcome": "tests/item-1", "contrasts": "against_reference", "test": "default", "epsilon": "0.2"}

    missing = client.post("/studies/plums/analysis-plan/", fields)
    negative = client.post("/studies/plums/analysis-plan/", fields | {"reference": "Source 1", "margin": "-1"})
    planned = client.post(
        "/studies/plums/analysis-plan/",
        fields | {"reference": "Source 1", "margin": "5", "hypotheses": "People write better."},
    )

    assert (missing.status_code, negative.status_code, planned.status_code) == (400, 400, 302)
    assert "is missing; name the source" in missing.content.decode()
    assert "must be larger than 0, in units of the outcome" in negative.content.decode()
    draft.refresh_from_db()
    assert protocol.drafted_plan(draft) == PLAN
    client.post("/studies/plums/analysis-plan/", {"remove": "yes"})
    draft.refresh_from_db()
    assert draft.analysis_plan == {}


def test_every_field_stands_under_one_heading(client: Client, draft: Study) -> None:
    client.force_login(factories.staff("designer"))
    draft.text_kind = Study.TextKind.IDEA
    draft.save()

    form = client.get("/studies/plums/analysis-plan/").context["form"]

    under_headings = [field.name for _heading, fields in form.parts() for field in fields]
    assert sorted(under_headings) == sorted(form.fields)


def test_a_frozen_plan_is_read_and_registered(client: Client, draft: Study) -> None:
    protocol.save_plan(draft, PLAN)
    version = factories.freeze(draft)
    client.force_login(factories.staff("designer"))

    page = client.get("/studies/plums/analysis-plan/").content.decode()
    refusal = client.post("/studies/plums/analysis-plan/", {"remove": "yes"}, follow=True).content.decode()
    text = client.get("/studies/plums/analysis-plan.md").content.decode()

    assert "It never changes." in page
    assert "<form method=" not in page.partition("<main")[2].partition("</main>")[0]
    assert "The protocol is frozen, and the analysis plan with it." in refusal
    assert f"with protocol 1, SHA-256 {version.sha256}." in text
    assert "- Every other source against Source 1." in text
    assert "lies within ±5 of its units." in text
    assert "by source: Source 1 (2), Source 2 (2)." in text


@pytest.mark.parametrize(
    ("options", "attempts", "way"),
    [
        ({}, "in 2 attempts", "cannot continue."),
        ({"attempts": 1, "on_failure": "continue"}, "in one attempt", "continue, and that is recorded."),
    ],
)
def test_what_becomes_of_who_fails_a_check_is_registered_and_frozen_in_words(
    draft: Study, options: dict[str, object], attempts: str, way: str
) -> None:
    asked = factories.instrument("check", n_items=1, settings={"correct": "no"})
    fields = {"title": "Check", "instrument": asked, "options": options}
    drafts.add_step(draft, kind="rating", scope="once", index=1, fields=fields)
    current = protocol.read_rows(draft.versions.get())

    plan = write_preregistration(draft, PLAN)
    sections = write_prose(protocol.write_document(current), ProseFacts(1, 9, ""))

    assert "- Comprehension check “Check”: " in plan
    assert ("one attempt" in plan, "goes no further" in plan) == (bool(options), not options)
    sentences = [s.text for section in sections if section.key == "steps" for s in section.sentences]
    assert [s for s in sentences if "comprehension check" in s] == [
        s for s in sentences if s.endswith(f"do not answer all of it correctly {attempts} {way}")
    ]
    assert sum("comprehension check" in s for s in sentences) == 1


def test_a_coordinator_who_stays_blind_does_not_see_the_plan(client: Client, draft: Study) -> None:
    protocol.save_plan(draft, PLAN)
    client.force_login(factories.staff("coordinator"))

    answers = [client.get(f"/studies/plums/analysis-plan{end}").status_code for end in ("/", ".md")]

    assert answers == [403, 403]
    assert "analysis-plan" not in client.get("/studies/plums/").content.decode()


def test_the_target_of_a_score_of_ideas_is_chosen_on_the_page_and_registered(client: Client, draft: Study) -> None:
    client.force_login(factories.staff("designer"))
    scale = {"type": "scale", "settings": {"low": 1, "high": 5, "anchors": {"1": "Low", "5": "High"}}}
    Step.objects.create(
        version=draft.versions.get(),
        position=9,
        key="panel",
        kind="rating",
        title="Panel",
        instrument=factories.instrument("panel", n_items=2, rationale="none", rationale_least=0, **scale),
        scope="story",
    )
    address = "/studies/plums/analysis-plan/"
    fields = {"outcome": "panel/item-1", "contrasts": "every_pair", "test": "default", "epsilon": "0.2"}
    chosen = {"nsv_target": ["panel/item-1", "panel/item-2"], "nsv_coherence": "tests/item-1"}
    assert "nsv_target" not in client.get(address).content.decode()

    Study.objects.update(text_kind="idea")
    without_set = client.post(address, fields | chosen)
    planned = client.post(address, fields | chosen | {"nsv_references": "Winners", "nsv_correlation": "pooled"})

    assert (without_set.status_code, planned.status_code) == (400, 302)
    assert "name the set of stories that novelty is measured against" in without_set.content.decode()
    draft.refresh_from_db()
    assert draft.analysis_plan["nsv_target"] == ["panel/item-1", "panel/item-2"]
    plan = protocol.drafted_plan(draft)
    assert plan is not None
    assert (plan.nsv_references, plan.nsv_coherence, plan.nsv_correlation) == ("Winners", "tests/item-1", "pooled")
    text = client.get("/studies/plums/analysis-plan.md").content.decode()
    assert "the mean of `panel/item-1`, `panel/item-2`, over raters" in text
    votes = {"nsv_references": "Winners", "nsv_pairs": "votes-1"}
    client.post(address, fields | chosen | votes)
    text = client.get("/studies/plums/analysis-plan.md").content.decode()
    assert "value learnt from pairs of ideas of one prompt in the order of the scores votes-1" in text
    both = client.post(address, fields | chosen | votes | {"nsv_value": "reward-1"}).content.decode()
    assert "leave one of them out" in both
    unknown = client.post(address, fields | chosen | votes | {"nsv_pairs": "pairs/item-9"}).content.decode()
    assert "there is no question “pairs/item-9” that asks which story is preferred" in unknown
    Study.objects.update(analysis_plan={**draft.analysis_plan, "nsv_target": ["panel/item-9"]})
    draft.refresh_from_db()
    with pytest.raises(protocol.NotPlannable, match="there is no scale “panel/item-9”; did you mean"):
        factories.freeze(draft)
