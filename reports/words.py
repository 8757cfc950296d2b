"""What a report says in words: its headline, its notices, and the whole of it as lines of text."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from reports.templatetags.figures import coefficient, decimal, whole

Results = dict[str, Any]


def headline(found: Results) -> str:
    """The main finding in a sentence; without one, where the study stands."""
    ranked = _ranked(found)
    if len(ranked) > 1:
        best, second = ranked[0], ranked[1]
        said = _("%(best)s passes %(most)s of the tests, the next, %(second)s, %(less)s")
        named = {"best": best["source"], "second": second["source"]}
        return said % (named | {"most": _percent(best), "less": _percent(second)})
    progress = found["progress"]
    title: str = found["study"]["title"]
    if found["is_sealed"] and progress["n_seats"]:
        told = {"title": title, "n": whole(progress["n_submitted"]), "all": whole(progress["n_seats"])}
        return _("%(title)s: %(n)s of %(all)s places submitted") % told
    return title


def _percent(cell: dict[str, Any]) -> str:
    """A share with a space before the sign that no line breaks at."""
    return (_("%(percent)s %%") % {"percent": decimal(cell["value"], 0)}).replace(" ", "\u00a0")


def _ranked(found: Results) -> list[dict[str, Any]]:
    rates = found["pass_rates"]
    by_source = rates["mean"]["by_source"] if rates and len(rates["items"]) > 1 else []
    known = [each for each in by_source if each["value"] is not None]
    return sorted(known, key=lambda each: -each["value"])


def notices(found: Results) -> list[str]:
    """What must be known before anything else is read."""
    said = [found["study"]["notice"]]
    if found["progress"]["raters"] == "simulated":
        said.append(_("The answers are simulated: no person gave them, and nothing here is a finding."))
    if found["is_sealed"]:
        if found["study"]["state"] == "closed":
            sealed = _(
                "Sealed for readers who stay blind: nothing is computed or shown by source, over all sources only."
            )
        else:
            sealed = _(
                "Sealed until the study is closed: nothing is computed or shown by source, over all sources only."
            )
        said.append(sealed)
    return [words for words in said if words]


def lines(found: Results) -> Iterator[str]:
    """The report as text."""
    progress = found["progress"]
    yield headline(found)
    for notice in notices(found):
        yield f"  {notice}"
    yield (
        f"  {whole(progress['n_stories'])} stories in {whole(progress['n_groups'])} groups, "
        f"{whole(progress['n_raters'])} raters, {whole(progress['n_submitted'])} of {whole(progress['n_seats'])} "
        f"places submitted, {whole(progress['n_answers'])} answers, {whole(progress['n_missing'])} missing"
    )
    yield from _rates(found)
    yield from _ratings(found)
    yield from _preferences(found)
    yield from _checks(found)
    yield from _agreement(found)
    yield from _cloze(found)
    yield from _judges(found)


def _rates(found: Results) -> Iterator[str]:
    rates = found["pass_rates"]
    if not rates:
        return
    names = [source["source"] for source in found["sources"]]
    yield "\nPass rates in percent, with n"
    yield "  " + " " * 34 + "".join(f"{name[:16]:>18}" for name in ["all", *names])
    rows = [*rates["items"], {"title": "Mean"} | rates["mean"]]
    for row in rows:
        cells = [row["overall"], *row["by_source"]]
        yield f"  {row['title'][:34]:<34}" + "".join(f"{decimal(c['value']):>10} ({whole(c['n']):>5})" for c in cells)


def _ratings(found: Results) -> Iterator[str]:
    if found["ratings"]:
        yield "\nMean ratings ± standard deviation, with n"
    for row in found["ratings"]:
        yield f"  {row['title'][:34]}"
        for cell in [{"source": "all"} | row["overall"], *row["by_source"]]:
            told = f"{decimal(cell['value'], 2)} ± {decimal(cell.get('sd'), 2)}"
            yield f"    {cell['source'][:32]:<32} {told:>14} ({whole(cell['n'])})"


def _preferences(found: Results) -> Iterator[str]:
    for row in found["preferences"]:
        first = row["first"]
        yield f"\n{row['title']}: chosen in percent of {whole(row['n'])} choices"
        yield f"  {'the story shown first':<34} {decimal(first['value']):>10} ({whole(first['n'])})"
        for cell in row["by_source"]:
            yield f"  {cell['source'][:34]:<34} {decimal(cell['value']):>10} ({whole(cell['n'])})"


def _checks(found: Results) -> Iterator[str]:
    if found["checks"]:
        yield "\nRight answers in percent, with n"
    for row in found["checks"]:
        yield f"  {row['question'][:66]:<66} {decimal(row['value']):>6} ({whole(row['n'])})"


def _agreement(found: Results) -> Iterator[str]:
    yield "\nAgreement"
    for row in found["agreement"]["items"]:
        told, ends, upper = row["coefficient"], row["interval"], row["floor"]["upper"]
        if told["value"] is None:
            yield f"  {row['title'][:34]:<34} none: {told['why']}"
            continue
        yield (
            f"  {row['title'][:34]:<34} {told['name']} {coefficient(told['value'])}, "
            f"95 % {coefficient(ends['low'])} to {coefficient(ends['high'])}, chance to {coefficient(upper)}, "
            f"n = {told['n_units']} units, {told['n_raters']} raters"
        )
    mean = found["agreement"]["mean"]
    if mean and mean["coefficient"]["value"] is not None:
        yield f"  Mean of {mean['coefficient']['n']}: {coefficient(mean['coefficient']['value'])}"


def _cloze(found: Results) -> Iterator[str]:
    told = found["cloze"]
    if not told:
        return
    yield f"\nWho filled the blanks of {told['title']}"
    for name, groups in (("people", told["people"]), ("models", told["models"])):
        if groups["n"]:
            parts = (
                f"{row['group'].replace('_', ' ')} {row['n']} ({decimal(row['value'])} %)" for row in groups["groups"]
            )
            yield f"  {groups['n']} {name}: {', '.join(parts)}"
    for row in told["sections"]:
        if row["n_stopped"]:
            yield f"  gave up at section {row['section']}, {row['title']}: {row['n_stopped']}"


def _judges(found: Results) -> Iterator[str]:
    if found["judges"]:
        yield "\nJudges beside the majority of people"
    for judge in found["judges"]:
        outcomes = judge["outcomes"]
        yield (
            f"  {judge['judge']}: kappa {coefficient(judge['pooled']['kappa']['value'])} over {judge['pooled']['n']} "
            f"verdicts; {outcomes['declined']} declined, {outcomes['unreadable']} unreadable, "
            f"{outcomes['missing']} missing of {outcomes['expected']}"
        )
