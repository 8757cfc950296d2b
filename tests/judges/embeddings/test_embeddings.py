"""What every embedding promises, and what each of those that come with Quire does."""

import io
import json
import os
import sys
import tracemalloc
from datetime import date
from decimal import Decimal
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from sklearn.feature_extraction.text import TfidfVectorizer

from annotation.models import Rater
from judges import embeddings
from judges.embeddings import (
    CannotEmbed,
    Embedding,
    EmptyText,
    Occasion,
    UnknownEmbedding,
    endpoint,
    find_embedding,
    kept_vectors,
    tfidf_svd,
)
from judges.embeddings import sentence_transformers as sentences
from judges.embeddings.base import split_chunks
from judges.models import Call, Endpoint, Parse, Price, Run, Text, TextVector
from judges.requests import texts
from judges.settlement import erasure
from studies import hashing
from studies.models import Provenance, Study
from tests import factories
from tests.judges import standin as orders
from tests.judges.standin import Reply, StandIn
from tests.judges.standin.vectors import vector

TEXTS = ["The ferry stopped at noon.", "The ferry stopped at night.", "Nobody asked why it rained."]


@pytest.fixture
def study() -> Study:
    return factories.study(comparative=False)


# Names


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("word2vec", "“word2vec” is not an embedding; there are: endpoint, sentence-transformers, tfidf-svd"),
        ("endpoint", "does not name its model: write “endpoint:MODEL”"),
        ("tfidf-svd:large", "names a model, and tfidf-svd has none"),
    ],
)
def test_a_name_that_is_none_is_refused_with_what_would_do(name: str, sentence: str) -> None:
    with pytest.raises(UnknownEmbedding, match=sentence):
        find_embedding(name)


def test_an_embedding_has_the_name_that_it_is_found_by() -> None:
    for name in ("tfidf-svd", "sentence-transformers:all-MiniLM-L6-v2", "endpoint:house/nomic/embed:1"):
        assert find_embedding(name).name == name
    assert embeddings.OFFLINE in embeddings.all_kinds()


# Chunks


def test_paragraphs_are_packed_into_chunks_and_long_ones_cut() -> None:
    text = "\n\n".join(["a b c", "d e", "f g h i j k l", "***", "m"])

    assert split_chunks(text, most=5) == ["a b c\n\nd e", "f g h i j", "k l\n\nm"]


def test_a_paragraph_without_blanks_is_cut_between_characters() -> None:
    assert split_chunks("你好世界再见了。", most=3) == ["你好世", "界再见", "了。"]


# TF-IDF and SVD


def test_tfidf_svd_gives_unit_rows_and_the_same_again() -> None:
    embedding = find_embedding("tfidf-svd")

    rows = embedding.vectors(TEXTS)

    assert rows.shape == (3, 3)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1)
    np.testing.assert_array_equal(rows, embedding.vectors(TEXTS))
    assert rows[0] @ rows[1] > 0.4 > rows[0] @ rows[2]


def test_up_to_256_texts_keep_the_cosines_of_their_weights_exactly() -> None:
    # By hand: terms a, b, "a b" | a, c, "a c". Smooth idf: of a ln(3/3) + 1 = 1, of the others ln(3/2) + 1.
    rows = find_embedding("tfidf-svd").vectors(["a b", "a c"])

    assert rows[0] @ rows[1] == pytest.approx(1 / (1 + 2 * (np.log(3 / 2) + 1) ** 2))


@pytest.mark.parametrize("n_words", [12, 400])
def test_more_texts_lie_on_the_axes_of_the_whole_table(n_words: int) -> None:
    """Of few words there are fewer terms than texts, of many more; beside a decomposition of the dense table."""
    rng = np.random.default_rng(3)
    texts = [" ".join(f"w{n}" for n in rng.integers(0, n_words, 9)) for _text in range(300)]

    rows = find_embedding("tfidf-svd").vectors(texts)

    dense = TfidfVectorizer(analyzer=tfidf_svd._list_terms, sublinear_tf=True).fit_transform(texts).toarray()
    axes, singular_values, _terms = np.linalg.svd(dense, full_matrices=False)
    expected = (axes * singular_values)[:, : rows.shape[1]]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-5)


def test_nothing_dense_has_a_row_for_every_term(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfidf_svd, "MOST_DIMENSIONS", 20)
    texts = [" ".join(f"w{n}x{text}" for n in range(500)) for text in range(60)]  # 59,940 terms
    embedding = find_embedding("tfidf-svd")
    embedding.vectors(texts[:25])  # libraries are loaded

    tracemalloc.start()
    try:
        embedding.vectors(texts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 59_940 * 20 * 8


def test_one_text_is_embedded_and_two_equal_ones_lie_together() -> None:
    embedding = find_embedding("tfidf-svd")

    assert abs(embedding.vectors(["One text."])[0, 0]) == pytest.approx(1)
    rows = embedding.vectors([*TEXTS, TEXTS[0]])
    assert rows[0] @ rows[3] == pytest.approx(1)


def test_a_text_without_words_is_named() -> None:
    with pytest.raises(EmptyText, match="text 2 of 3 has no words; leave it out") as error:
        find_embedding("tfidf-svd").vectors([TEXTS[0], "…", TEXTS[1]])
    assert error.value.number == 2
    with pytest.raises(CannotEmbed, match="there are no texts to embed"):
        find_embedding("tfidf-svd").vectors([])


# Sentence encoders


@pytest.mark.django_db
def test_a_missing_library_is_named_with_what_to_install() -> None:
    if find_spec("sentence_transformers"):
        pytest.skip("sentence-transformers is installed")

    with pytest.raises(CannotEmbed, match=r"not installed; install it .* pip install -e '.\[embeddings\]'"):
        find_embedding("sentence-transformers:all-MiniLM-L6-v2").vectors(TEXTS)


class CutOff(Exception):
    """In place of what the reader of a model's file raises."""


class Encoder:
    """In place of the library's class: a chunk's vector is its number of words, and 1."""

    def __init__(self, model: str, *, local_files_only: bool) -> None:
        assert local_files_only, "nothing is downloaded"
        if "broken" in model:
            raise CutOff("The file is cut off. See https://example.org for what that means.")

    def encode(self, chunks: list[str], *, show_progress_bar: bool) -> Any:
        return np.array([[len(chunk.split()), 1.0] for chunk in chunks], dtype=np.float32)


CACHED = "/cache/models--sentence-transformers--small/snapshots/0123456789abcdef01/config.json"


def find_cached(repository: str, file: str, *, cache_dir: str | None) -> str | None:
    """In place of the library's: it knows one model, and no name of more than two parts."""
    if repository.count("/") > 1:
        raise ValueError("this is no name of a repository")
    return CACHED if (repository, file) == ("sentence-transformers/small", "config.json") else None


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    module, hub = ModuleType("sentence_transformers"), ModuleType("huggingface_hub")
    module.SentenceTransformer = Encoder  # type: ignore[attr-defined]
    hub.try_to_load_from_cache = find_cached  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    monkeypatch.setattr(sentences, "_find_library", lambda: "5.0")
    sentences._load.cache_clear()
    sentences._fingerprint.cache_clear()


@pytest.mark.django_db
def test_a_long_text_is_the_mean_of_its_chunks(library: None) -> None:
    embedding = find_embedding("sentence-transformers:small")
    text = "\n\n".join([" ".join(["word"] * 180), " ".join(["word"] * 90)])

    (row,) = embedding.vectors([text])

    mean = np.mean([np.array([n, 1]) / np.hypot(n, 1) for n in (180, 90)], axis=0)
    np.testing.assert_allclose(row, mean / np.linalg.norm(mean), rtol=1e-6)
    assert embedding.version == "1+5.0+0123456789abcdef"


@pytest.mark.django_db
@pytest.mark.parametrize("model", ["missing", "nowhere/at/all"])
def test_a_model_that_is_not_on_the_machine_is_named(library: None, model: str) -> None:
    reason = "nothing of that name is in the library’s cache"
    with pytest.raises(CannotEmbed, match=f"no model “{model}” on this machine .{reason}.; give the path"):
        find_embedding(f"sentence-transformers:{model}").vectors(TEXTS)


@pytest.mark.django_db
def test_a_model_that_cannot_be_read_is_named_with_the_first_sentence_of_the_reason(
    library: None, tmp_path: Any
) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()

    with pytest.raises(CannotEmbed, match=r"broken” on this machine \(The file is cut off\); give the path"):
        find_embedding(f"sentence-transformers:{folder}").vectors(TEXTS)


@pytest.mark.django_db
def test_other_files_in_a_models_folder_are_another_version(library: None, tmp_path: Any) -> None:
    (tmp_path / "weights").write_bytes(b"1")
    before = find_embedding(f"sentence-transformers:{tmp_path}").version
    sentences._fingerprint.cache_clear()
    (tmp_path / "weights").write_bytes(b"2")

    assert find_embedding(f"sentence-transformers:{tmp_path}").version != before


@pytest.fixture
def encoder() -> str:
    """A real sentence encoder, by the name of its embedding."""
    folder = os.environ.get("QUIRE_ENCODER", "")
    if not find_spec("sentence_transformers") or not Path(folder, "modules.json").is_file():
        pytest.skip("sentence-transformers is not installed, or QUIRE_ENCODER does not name a model's folder")
    return f"sentence-transformers:{folder}"


@pytest.mark.encoder
@pytest.mark.django_db
@pytest.mark.filterwarnings("default")
def test_a_real_encoder_lays_texts_of_one_meaning_together_and_reads_a_text_once(
    encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["The boat left the harbour at noon.", "At midday the ship sailed from port.", "Her bread is too salty."]
    embedding = find_embedding(encoder)

    rows = embedding.vectors(texts)

    assert rows[0] @ rows[1] > 0.5 > 0.3 > rows[0] @ rows[2]
    rule, library_version, files = embedding.version.split("+")
    assert (rule, library_version, len(files)) == (sentences.RULE, metadata.version("sentence-transformers"), 16)
    monkeypatch.setattr(sentences, "_load", lambda model: pytest.fail("a text that is kept is encoded anew"))
    np.testing.assert_array_equal(embedding.vectors(texts), rows)


@pytest.mark.encoder
@pytest.mark.django_db
@pytest.mark.filterwarnings("default")
def test_a_real_encoder_reads_a_long_text_to_its_end(encoder: str) -> None:
    beginning = " ".join(["The ferry waited in the fog, and nobody on the pier spoke."] * 60)

    rows = find_embedding(encoder).vectors([beginning, f"{beginning}\n\nThen the bread was salted."])

    assert rows[0] @ rows[1] < 0.999


@pytest.mark.encoder
@pytest.mark.django_db
@pytest.mark.filterwarnings("default")
def test_the_commands_take_a_real_encoder(encoder: str, study: Study) -> None:
    out = io.StringIO()

    call_command("store_reference_set", study.slug, "Own", embedding=encoder, stdout=out)

    version = find_embedding(encoder).version
    assert f"{encoder} {version}" in out.getvalue()
    assert set(TextVector.objects.values_list("embedding", "version")) == {(encoder, version)}


# Endpoints


def endpoint_at(standin: StandIn, **changes: Any) -> Endpoint:
    fields = {"base_url": standin.base_url, "key_variable": "STANDIN_API_KEY", "is_allowed": True, "is_outside": False}
    return Endpoint.objects.create(name="house", **(fields | changes))


def remote(name: str = "endpoint:house/small", **options: Any) -> Embedding:
    """The embedding, asked for by somebody for a study."""
    return find_embedding(name, occasion=Occasion(Study.objects.first() or factories.study(), "ada"), **options)


@pytest.mark.django_db
def test_an_endpoints_vectors_are_asked_for_once_and_kept(standin: StandIn) -> None:
    endpoint_at(standin)
    embedding = remote()

    rows = embedding.vectors([*TEXTS, TEXTS[0]])

    expected = np.array([vector(text) for text in TEXTS])
    np.testing.assert_allclose(rows[:3], expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-5)
    (hit,) = standin.hits
    assert hit.body == {"model": "small", "input": TEXTS, "encoding_format": "float"}
    np.testing.assert_array_equal(embedding.vectors(TEXTS), rows[:3])
    assert len(standin.hits) == 1
    assert kept_vectors.find_missing(embedding, [*TEXTS, "Another."]) == ["Another."]
    assert set(TextVector.objects.values_list("sha256", flat=True)) == {hashing.sha256(text) for text in TEXTS}


@pytest.mark.django_db
def test_what_came_back_is_kept_where_a_later_request_fails(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "CHUNKS_A_REQUEST", 1)
    endpoint_at(standin, n_at_once=1)
    standin.script = [vectors_reply([1, 2]), *[orders.NO_KEY] * 3]

    with pytest.raises(
        CannotEmbed, match=r"endpoint:house/small: .* does not accept the key.*ask again, and it goes on"
    ):
        remote().vectors(TEXTS)

    assert TextVector.objects.count() == 1
    standin.script = [vectors_reply([2, 2]), vectors_reply([3, 2])]
    n_hits = len(standin.hits)
    assert len(remote().vectors(TEXTS)) == 3
    assert len(standin.hits) == n_hits + 2
    assert Run.objects.get().state == Run.State.FINISHED


@pytest.mark.django_db
def test_every_request_is_a_call_with_its_attempt_its_body_and_its_cost(standin: StandIn) -> None:
    row = endpoint_at(standin)
    Price.objects.create(
        endpoint=row, model="small", usd_per_million_in=1000, usd_per_million_out=0, valid_from=date(2020, 1, 1)
    )

    remote().vectors(TEXTS)

    run = Run.objects.get()
    assert (run.approved_by, run.n_planned, run.state) == ("ada", 1, Run.State.FINISHED)
    call = run.calls.get()
    assert (call.kind, call.state) == ("embed", "ok")
    assert [message["content"] for message in texts.render(call.request)["messages"]] == TEXTS
    n_words = sum(len(text.split()) for text in TEXTS)
    attempt = call.attempts.get()
    assert (attempt.n_tokens_in, attempt.n_tokens_out, attempt.cost) == (n_words, 0, Decimal(n_words) / 1000)
    assert '"embedding"' in attempt.body
    assert Parse.objects.get().values == {"n_vectors": 3, "n_numbers": 8}
    assert not Rater.objects.filter(kind="model").exists()


@pytest.mark.django_db
def test_without_a_study_nothing_is_sent_and_the_message_says_how(standin: StandIn) -> None:
    endpoint_at(standin)

    with pytest.raises(CannotEmbed, match=r"3 texts have no vector yet.*train_preference --run-in STUDY"):
        find_embedding("endpoint:house/small").vectors(TEXTS)
    assert standin.hits == []


def vectors_reply(*rows: list[float], model: str = "small") -> Reply:
    data = [{"index": n, "embedding": row} for n, row in enumerate(rows)]
    return Reply(json.dumps({"model": model, "data": data}))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (vectors_reply([1, 2]), "not hold a vector for each of the 3 texts"),
        (vectors_reply([1], [2], [float("nan")]), "not hold a vector for each of the 3 texts"),
        (orders.GARBAGE, "not hold a vector for each of the 3 texts"),
        (orders.NO_KEY, "does not accept the key"),
        (vectors_reply([1], [2], [3], model="large"), "another model answered than was asked: large"),
        (vectors_reply([1], [1, 2], [1, 2, 3]), "the vectors have 1, 2, 3 numbers, and cannot be compared"),
        (vectors_reply([0], [1], [1]), "a vector is without a direction"),
    ],
)
def test_a_reply_that_holds_no_vectors_says_so_and_nothing_is_kept(
    standin: StandIn, reply: Reply, sentence: str
) -> None:
    endpoint_at(standin)
    standin.script = [reply] * 6

    with pytest.raises(CannotEmbed, match=sentence):
        remote().vectors(TEXTS)
    assert not TextVector.objects.exists()


@pytest.mark.django_db
def test_vectors_of_another_size_than_those_kept_are_refused(standin: StandIn) -> None:
    endpoint_at(standin)
    remote().vectors(TEXTS[:1])
    standin.script = [vectors_reply([1, 2])] * 2

    with pytest.raises(CannotEmbed, match="the vectors have 2, 8 numbers"):
        remote().vectors(TEXTS[:2])


@pytest.mark.django_db
def test_an_endpoint_that_is_unknown_or_not_allowed_is_refused(standin: StandIn) -> None:
    endpoint_at(standin, is_allowed=False)

    with pytest.raises(CannotEmbed, match="has not allowed the endpoint house"):
        remote().vectors(TEXTS)
    with pytest.raises(CannotEmbed, match=r"names no endpoint with a model: write endpoint:ENDPOINT/MODEL; .*: house"):
        remote("endpoint:home/small").vectors(TEXTS)
    assert standin.hits == []


@pytest.mark.django_db
def test_only_texts_that_may_leave_go_to_an_outside_endpoint(standin: StandIn, study: Study) -> None:
    endpoint_at(standin, is_outside=True)
    texts = list(study.stories.values_list("text", flat=True))
    released = Provenance.objects.filter(story__study=study)
    released.update(may_send_out=True)
    released.filter(story__text=texts[0]).update(may_send_out=False)
    embedding = remote(may_send_out=True)

    with pytest.raises(CannotEmbed, match="1 text is not marked as free to be sent to an outside provider"):
        embedding.vectors(texts)
    with pytest.raises(CannotEmbed, match="3 texts are not marked"):
        remote().vectors(TEXTS)
    assert standin.hits == []

    assert len(embedding.vectors([*texts[1:], *TEXTS])) == len(texts) - 1 + 3


@pytest.mark.django_db
def test_erasing_a_story_reaches_the_vectors_of_its_text(standin: StandIn, study: Study) -> None:
    endpoint_at(standin)
    first, second = study.stories.order_by("code")[:2]
    remote().vectors([first.text, second.text, "What it was before an edit."])

    (call,) = Call.objects.all()
    stored = texts.hashes_of(call.request)
    erasure.empty_calls([first.pk])

    call.refresh_from_db()
    assert (call.request, call.attempts.get().body) == ({}, "")
    assert set(Text.objects.filter(pk__in=stored).values_list("content", flat=True)) == {""}
    assert list(TextVector.objects.values_list("sha256", flat=True)) == [second.sha256]
