"""What the columns of the long file mean, and what its items ask with which values."""

from collections.abc import Iterator

from reports.dataset.step_items import metric_items, step_items
from reports.export import long_table
from studies.models import Study
from studies.protocol import describe_score, list_outcomes

COLUMNS = ("what", "name", "meaning", "values")


def rows(study: Study, *, with_sources: bool) -> Iterator[dict[str, str]]:
    for name, meaning in long_table.columns(study, with_sources=with_sources).items():
        yield {"what": "column", "name": name, "meaning": meaning, "values": ""}
    for step_item in (*step_items(study), *metric_items(study)):
        item = step_item.item
        options = "; ".join(f"{option['value']} = {option['label']}" for option in item.options)
        # In the order in which the item type declares them: a frozen document has them by the alphabet.
        names = [name for name in step_item.type.settings if name in item.settings]
        values = options or "; ".join(f"{name} = {item.settings[name]}" for name in names)
        name = f"{step_item.step.key}/{item.key}"
        yield {"what": f"item, {item.type}", "name": name, "meaning": item.question, "values": values}
    for outcome in list_outcomes(dict.fromkeys(step_item.step for step_item in step_items(study))):
        if outcome.score:
            yield {"what": "score", "name": outcome.key, "meaning": outcome.title, "values": describe_score(outcome)}
