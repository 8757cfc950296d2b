"""What calls held until now, moved to where it belongs: bodies to attempts, what was sent to texts, seats to readings."""

import hashlib
import re

# As fences have been written since the first release: a name, a letter where there are several, a number.
STORY = re.compile(r"<(story(?: [A-Z])?) (fence-[0-9a-f]{32})>\n.*?\n</\1 \2>", re.DOTALL)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def move(apps, schema_editor):
    Call, Run, Reading = (apps.get_model("judges", name) for name in ("Call", "Run", "Reading"))
    Call.objects.filter(story=None, item=None).update(kind="fill")
    for run in Run.objects.all():
        assignments = run.calls.order_by("assignment").values_list("assignment", flat=True).distinct()
        Reading.objects.bulk_create(Reading(run=run, assignment_id=pk) for pk in assignments)
    calls = Call.objects.order_by("pk").select_related("story", "item", "assignment__seat")
    pks = list(Call.objects.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(pks), 200):
        move_calls(apps, list(calls.filter(pk__in=pks[start : start + 200])))
    # PostgreSQL checks references at the end, and changes no table before it has.
    schema_editor.connection.check_constraints()


def move_calls(apps, calls):
    Attempt, Call = apps.get_model("judges", "Attempt"), apps.get_model("judges", "Call")
    attempts_by_call = {call.pk: [] for call in calls}
    for attempt in Attempt.objects.filter(call__in=attempts_by_call).order_by("number"):
        attempts_by_call[attempt.call_id].append(attempt)
    for call in calls:
        attempts = attempts_by_call[call.pk]
        for attempt in attempts:
            if attempt.outcome == "":
                attempt.lease_until = call.lease_until or attempt.sent_at
        if call.response or call.n_tokens_in is not None:
            holder = holder_of(Attempt, call, attempts)
            holder.body = call.response
            holder.n_tokens_in, holder.n_tokens_out = call.n_tokens_in, call.n_tokens_out
            holder.save()
        Attempt.objects.bulk_update(attempts, ["lease_until"])
        call.items = [call.item.key] if call.item else []
        call.request = stored(apps, call)
    Call.objects.bulk_update(calls, ["items", "request"])


def holder_of(Attempt, call, attempts):
    """The attempt that was answered; a metric's call had none."""
    answered = [attempt for attempt in attempts if attempt.outcome == "answered"]
    at = call.answered_at or call.sent_at
    return (
        answered[-1]
        if answered
        else Attempt(call=call, number=len(attempts) + 1, sent_at=at, ended_at=at, outcome="answered")
    )


def stored(apps, call):
    """The request with each text by its hash."""
    if "messages" not in call.request:
        return call.request
    messages = [
        {"role": message["role"], "texts": [keep(apps, *part) for part in parts_of(apps, call, message["content"])]}
        for message in call.request["messages"]
    ]
    return call.request | {"messages": messages}


def parts_of(apps, call, content):
    """The content in parts, each story's by itself and with the story."""
    start = 0
    for match in STORY.finditer(content):
        if match.start() > start:
            yield content[start : match.start()], None
        yield match[0], call.story or story_of(apps, call, match[1])
        start = match.end()
    if content[start:]:
        yield content[start:], None


def story_of(apps, call, name):
    """The story that a call about a group names so."""
    letter, order = name.removeprefix("story").strip() or "A", call.assignment.seat.order
    Story = apps.get_model("studies", "Story")
    return Story.objects.filter(study=call.assignment.study_id, code=order[LETTERS.index(letter)]).first()


def keep(apps, content, story):
    Text = apps.get_model("judges", "Text")
    sha256 = hashlib.sha256(content.encode()).hexdigest()
    Text.objects.get_or_create(sha256=sha256, defaults={"content": content, "story": story})
    return sha256


def give_back(apps, schema_editor):
    """Going back: the bodies and the contents into the calls."""
    Text, Call, Attempt = (apps.get_model("judges", name) for name in ("Text", "Call", "Attempt"))
    for call in Call.objects.order_by("pk").iterator(200):
        messages = call.request.get("messages")
        if messages:
            content_by_hash = dict(Text.objects.values_list("sha256", "content"))
            call.request["messages"] = [
                {"role": m["role"], "content": "".join(content_by_hash[sha] for sha in m["texts"])} for m in messages
            ]
        answered = Attempt.objects.filter(call=call, outcome="answered").order_by("number").last()
        if answered:
            call.response = answered.body
            call.n_tokens_in, call.n_tokens_out = answered.n_tokens_in, answered.n_tokens_out
            call.sent_at = answered.sent_at
        call.save()
    schema_editor.connection.check_constraints()
