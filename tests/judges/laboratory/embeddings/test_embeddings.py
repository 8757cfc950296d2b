"""What every embedding promises, and what each of those that come with Quire does."""

import io
import os
import sys
import tracemalloc
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from sklearn.feature_extraction.text import TfidfVectorizer

from judges.laboratory import embeddings
from judges.laboratory.embeddings import (
    CannotEmbed,
    EmptyText,
    UnknownEmbedding,
    find_embedding,
    tfidf_svd,
)
from judges.laboratory.embeddings import sentence_transformers as sentences
from judges.laboratory.embeddings.base import split_chunks
from judges.models import TextVector
from studies.models import Study

TEXTS = ["The ferry stopped at noon.", "The ferry stopped at night.", "Nobody asked why it rained."]


# Names


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "word2vec",
            "is not an embedding; there are: endpoint, sentence-transformers, tfidf-svd, wordllama",
        ),
        ("endpoint", "does not name its model: write “endpoint:MODEL”"),
        ("tfidf-svd:large", "names a model, and tfidf-svd has none"),
    ],
)
def test_a_name_that_is_none_is_refused_with_what_would_do(name: str, sentence: str) -> None:
    with pytest.raises(UnknownEmbedding, match=sentence):
        find_embedding(name)


def test_an_embedding_has_the_name_that_it_is_found_by() -> None:
    for name in ("tfidf-svd", "wordllama", "sentence-transformers:all-MiniLM-L6-v2", "endpoint:house/nomic/embed:1"):
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
