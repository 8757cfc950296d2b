"""What text measures say of verse, other scripts, odd signs and very long texts; every value counted by hand."""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from judges.laboratory.embeddings.tfidf_svd import TfidfSvd
from judges.laboratory.source_measures import measure_sources
from judges.metrics import NoValue, all_metrics, find_metric
from stats import neighbours
from studies.typography.word_boundaries import split_words

TOO_SHORT = "the text has too few words for this measure: {} of at least {}"
UNSPACED = "no spaces stand between the text's words, so they cannot be counted; compare its sentences"
VERSE = "moss on stone\nwater over moss\n\nlight\n  on\n     water\n"
MATTR, SURPRISE = "mattr-50", "nats"


def measured(text: str) -> dict[str, float | str]:
    """Every item of every metric, a reason in the place of a value that there is not."""
    values = {key: value for metric in all_metrics().values() for key, value in metric.measure(text).items()}
    return {key: value.reason if isinstance(value, NoValue) else value for key, value in values.items()}


def too_short(n: int) -> dict[str, float | str]:
    return {MATTR: TOO_SHORT.format(n, 50), SURPRISE: TOO_SHORT.format(n, 100)}


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_verse_is_counted_by_its_stanzas_whichever_way_lines_end(line_end: str) -> None:
    # moss on stone water over moss light on water: 9 words, 6 different; 8 pairs, all different. Two stanzas, no stops.
    assert measured(VERSE.replace("\n", line_end)) == too_short(9) | {
        "words": 9,
        "sentences": 2,
        "paragraphs": 2,
        "distinct-1": 6 / 9,
        "distinct-2": 1.0,
    }


@pytest.mark.parametrize(
    ("text", "words", "sentences", "paragraphs"),
    [
        ("Noon.", 1, 1, 1),
        ("... !!! ??? — “”", 5, 0, 1),
        ("***", 1, 0, 0),
        ("😀😀 👨‍👩‍👧", 2, 0, 1),
        (" \n\n ", 0, 0, 0),
    ],
)
def test_what_has_no_words_or_one_has_reasons_in_the_place_of_shares(
    text: str, words: int, sentences: int, paragraphs: int
) -> None:
    n = len(split_words(text))

    assert measured(text) == too_short(n) | {
        "words": words,
        "sentences": sentences,
        "paragraphs": paragraphs,
        "distinct-1": 1.0 if n else "the text has no words",
        "distinct-2": "the text has fewer than two words",
    }


def test_a_text_without_blanks_has_no_number_of_words_and_every_other_measure() -> None:
    text = "春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。"

    # 20 characters, of which 处 stands there twice; 19 pairs.
    assert measured(text) == too_short(20) | {
        "words": UNSPACED,
        "sentences": 2,
        "paragraphs": 1,
        "distinct-1": 19 / 20,
        "distinct-2": 1.0,
    }
    assert measured(text * 3)[MATTR] == pytest.approx(19 / 50)


@pytest.mark.parametrize(
    ("text", "sentences", "words"),
    [
        ("ذهبَ الولدُ إلى المدرسةِ. هل رأيتَه؟ نعم، رأيتُه!", 3, 8),
        ("یہ ایک جملہ ہے۔ یہ دوسرا جملہ ہے۔", 2, 8),
        ("मैं घर जाता हूँ। तुम कौन हो? वह आया।", 3, 9),
        ("Não há nada. Há-de vir? Diga-lhe que sim… E foi-se!", 4, 10),
        ("나는 학교에 갔다. 너는 누구니?", 2, 5),
    ],
)
def test_sentences_and_words_of_other_scripts(text: str, sentences: int, words: int) -> None:
    values = measured(text)

    assert (values["sentences"], values["words"], len(split_words(text))) == (sentences, words, words)


def test_a_word_is_one_whoever_typed_it() -> None:
    typed = "well-known can't re-enter impossible می‌روم"
    otherwise = "well\u2011known can\u02bct re\u2010enter im\u00adpos\u00adsible می\u200cروم"

    assert split_words(otherwise) == split_words(typed)
    assert find_metric("distinct").measure(f"{typed} {otherwise}")["distinct-1"] == 5 / 10


def test_a_text_of_sixty_thousand_words_is_measured_as_by_hand() -> None:
    draw = random.Random(12)
    words = [f"w{min(int(draw.paretovariate(0.8)), 9000)}" for _ in range(60_000)]
    text = "\n\n".join(" ".join(words[n : n + 100]) + "." for n in range(0, len(words), 100))

    values = measured(text)

    assert (values["words"], values["sentences"], values["paragraphs"]) == (60_000, 600, 600)
    assert values["distinct-1"] == len(set(words)) / 60_000
    assert values["distinct-2"] == len({*pairwise(words)}) / 59_999
    windows = [len(set(words[n : n + 50])) / 50 for n in range(60_000 - 49)]
    assert values[MATTR] == pytest.approx(sum(windows) / len(windows))


def test_surprise_within_is_that_of_a_model_written_out_word_by_word() -> None:
    draw = random.Random(5)
    words = [f"w{draw.randrange(20)}" for _ in range(140)]
    first, second = words[:70], words[70:]

    value = measured(" ".join(words))[SURPRISE]

    logs = [*log_likelihoods(first, second), *log_likelihoods(second, first)]
    assert value == pytest.approx(-sum(logs) / len(logs))


def log_likelihoods(fitted: Sequence[str], scored: Sequence[str]) -> list[float]:
    """Interpolated Kneser–Ney of order 3 by loops over dictionaries, as Chen & Goodman (1999) write it."""
    vocabulary = {*fitted, "?"}
    trigrams = Counter(zip(["^", "^", *fitted], ["^", *fitted], fitted, strict=False))
    before_pair, before_word = Counter(g[1:] for g in trigrams), Counter(word for _, word in {g[1:] for g in trigrams})

    def order(counts: Counter[tuple[str, ...]]) -> tuple[float, dict[tuple[str, ...], list[int]]]:
        once, twice = (sum(n == k for n in counts.values()) for k in (1, 2))
        of_context: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for gram, n in counts.items():
            of_context[gram[:-1]].append(n)
        return once / (once + 2 * twice) if once and twice else 0.75, of_context

    tables = [Counter({(word,): n for word, n in before_word.items()}), before_pair, trigrams]

    def likely(gram: tuple[str, ...]) -> float:
        lower = likely(gram[1:]) if len(gram) > 1 else 1 / len(vocabulary)
        discount, of_context = order(tables[len(gram) - 1])
        if not (counts := of_context.get(gram[:-1])):
            return lower
        own = max(tables[len(gram) - 1][gram] - discount, 0)
        return (own + discount * len(counts) * lower) / sum(counts)

    padded = ["^", "^", *(word if word in vocabulary else "?" for word in scored)]
    return [math.log(likely(tuple(padded[n : n + 3]))) for n in range(len(scored))]


def test_texts_that_share_no_word_with_hundreds_of_others_are_as_far_as_can_be_and_copies_of_them_near() -> None:
    # Three hundred texts, each with a second draft of it: more axes with two texts on them than are kept.
    draw = random.Random(3)
    common = [" ".join(f"w{draw.randrange(900)}" for _ in range(12)) for _ in range(300)]
    texts = [*common, *(f"{text} end" for text in common), "春眠不觉晓。", "春眠不觉晓！", "xyzzy plugh"]

    vectors = TfidfSvd().vectors(texts)

    nearest = neighbours.find_nearest(vectors, vectors, k=2, own=np.arange(len(texts)))
    assert nearest.distances[-3:] == pytest.approx(np.array([[0, 1], [0, 1], [1, 1]]), abs=1e-6)
    assert nearest.indices[-3:-1, 0].tolist() == [601, 600]


def test_a_mean_of_some_texts_says_of_how_many_and_typing_is_counted_by_characters_where_no_blanks_are() -> None:
    short, long = (["你好——世界。" * n for n in lengths] for lengths in ((10, 12, 14, 16, 18), (20, 22, 24, 26, 28)))

    measures = {row.title: row for row in measure_sources({"A": short, "B": long})}

    words, average = measures["words"], measures["Moving-average type–token ratio"]
    assert [(values.n, values.n_texts, values.is_of_some) for values in words.by_source] == [(0, 5, True)] * 2
    assert [values.n for values in average.by_source] == [3, 5]  # of 56, 64 and 72 characters; 40 and 48 are too few
    # Both sources set a dash for every two characters, in texts of any length, and no sentence of theirs is a title.
    assert not [row for row in measures.values() if row.is_typing]


def test_a_title_that_every_text_has_tells_no_sources_apart_however_long_they_are() -> None:
    measures = measure_sources({"A": ["Noon\n\nIt rang."] * 5, "B": [f"Noon\n\n{'It rang. ' * 40}"] * 5})

    assert "a first line that reads like a title" not in {row.title for row in measures}
    with_titles, without = ["Noon\n\nIt rang."] * 5, ["It rang."] * 5
    title = next(row for row in measure_sources({"A": with_titles, "B": without}) if row.is_typing)
    assert (title.title, [values.mean for values in title.by_source]) == (
        "a first line that reads like a title",
        [1, 0],
    )
