"""What a run asks that is about the fixed texts alone: nothing of it is a story's, and nobody's answer."""

from dataclasses import replace

from django.utils.translation import gettext as _

from judges import prompts
from judges.models import Judge
from judges.planning import plans
from judges.planning.plans import Plan
from judges.planning.scopes import CannotRun, Scope
from studies import protocol as protocols
from studies.models import Study

SCOPE = Scope(anchors=True)


def plan_fixed_texts(study: Study, judge: Judge) -> Plan:
    """All that the judge would be asked about the fixed texts by the frozen protocol. Raises CannotRun."""
    plans.check_judge(study, judge, [], [])
    try:
        protocol = protocols.load_protocol(protocols.current(study))
    except protocols.NotPlannable as error:
        raise CannotRun(str(error)) from None
    steps = plans.select_steps(study, judge, protocol, SCOPE)
    canary = prompts.new_canary()
    wording = replace(plans.word(study, judge, SCOPE, canary=canary), examples=None)
    try:
        guards = [
            call
            for text in prompts.load_anchors().texts
            for call in wording.ask_about_text(steps, text.key, text.text.strip())
        ]
    except prompts.InvalidPrompt as error:
        raise CannotRun(f"{judge.prompt}: {error}") from None
    if not guards:
        message = _("%(study)s: no step of its protocol asks anything about a single story")
        raise CannotRun(message % {"study": study.slug})
    document = plans.write_document(study, judge, protocol, {}, scope=SCOPE, withheld=[])
    return Plan(protocol, {}, {}, document, judge, guards=guards, canary=canary)
