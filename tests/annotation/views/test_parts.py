"""Every kind of part has a page, and no page is without a part."""

from annotation.progress import steps
from annotation.views.rater import parts
from studies import layouts


def test_every_kind_of_part_has_a_page_and_no_other():
    kinds = {steps.DESK, steps.TOGETHER, steps.TEXT}
    kinds |= {layout.key for layout in layouts.all_layouts().values() if layout.has_own_page}

    assert set(parts.all_pages()) == kinds


def test_a_page_is_for_the_kind_that_it_says():
    assert {kind: page.kind for kind, page in parts.all_pages().items()} == {k: k for k in parts.all_pages()}
