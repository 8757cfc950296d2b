"""No line of a report ends within the name of a model, within an interval, or between a number and its percent sign."""

import pytest

from reports.templatetags.report import kept_together


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<p>27.8 % of GPT-3.5.</p>", '<p>27.8\xa0% of <span class="kept-whole">GPT-3.5</span>.</p>'),
        ("<td>Llama-3-70b-chat</td>", '<td><span class="kept-whole">Llama-3</span>-70b-chat</td>'),
        ("<p>95 % interval −1.28 to −.68, 3 of 12.</p>", "<p>95\xa0% interval −1.28\xa0to\xa0−.68, 3\xa0of\xa012.</p>"),
        ("<p>a well-known name, 5 stories in 7 groups</p>", "<p>a well-known name, 5 stories in 7 groups</p>"),
    ],
)
def test_names_with_a_number_intervals_and_percentages_are_kept_whole(html: str, kept: str) -> None:
    assert kept_together(html) == kept


@pytest.mark.parametrize(
    "html",
    [
        '<a href="#GPT-4" title="GPT-4, 5 %">there</a>',
        "<svg viewBox='0 0 1 1'><title>GPT-4</title><text>5 %</text></svg>",
        "<select><option>GPT-4</option></select>",
        "<pre>GPT-4, 5 %</pre>",
    ],
)
def test_what_is_no_text_of_the_page_stays_as_it_is(html: str) -> None:
    assert kept_together(html) == html
