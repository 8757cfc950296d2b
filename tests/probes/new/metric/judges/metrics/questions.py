"""A metric of a test."""

from collections.abc import Mapping

from judges.metrics.base import Metric
from studies.documents.instrument import ItemDocument


class Questions(Metric):
    slug = "questions"
    version = "1"
    title = "Questions"
    items = (ItemDocument(key="marks", type="number", question="How many?", settings={"low": 0, "integer": True}),)

    def measure(self, text: str) -> Mapping[str, float]:
        return {"marks": text.count("?")}
