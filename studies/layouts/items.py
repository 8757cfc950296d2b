"""One item after another: what a step is laid out as that says nothing else."""

from studies.layouts.base import Layout


class ItemsLayout(Layout):
    """Each item by itself, on the page that follows from the scope of its step."""

    key = ""
