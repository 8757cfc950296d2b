"""The light embedding: by the meaning of words, from two files of a package whose code is never run."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from django.test import Client

from judges.laboratory import embeddings
from judges.laboratory.embeddings import CannotEmbed, find_embedding
from judges.laboratory.embeddings import wordllama as words
from judges.models import TextVector
from tests import factories

ALIKE = ["The boat left the harbour at noon.", "At midday the ship sailed from port."]
OTHER = "Her bread is too salty."
AWAY = "import os, sys; os.environ['HOME'] = {home!r}; import socket; socket.socket.connect = None; "
EMBED = (
    "import django; django.setup(); from judges.laboratory.embeddings import find_embedding; "
    "print(find_embedding('wordllama').embed(['A word.']).shape, sorted({'wordllama', 'requests'} & set(sys.modules)))"
)


@pytest.fixture
def _is_there() -> None:
    if not words.WordLlama.is_installed():
        pytest.skip("wordllama is not installed")


@pytest.fixture
def _is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "_find_folder", lambda: None)


@pytest.mark.usefixtures("_is_there")
@pytest.mark.django_db
def test_texts_of_one_meaning_lie_together_without_a_word_in_common() -> None:
    embedding = find_embedding("wordllama")

    first, second, other = embedding.vectors([*ALIKE, OTHER])

    assert first @ second > 0.2 > abs(first @ other)
    rule, library, files = embedding.version.split("+")
    assert (rule, library, len(files)) == (words.RULE, metadata.version("wordllama"), 16)
    assert set(TextVector.objects.values_list("embedding", "version")) == {("wordllama", embedding.version)}


@pytest.mark.usefixtures("_is_there")
def test_a_texts_vector_is_its_own_whatever_stands_beside_it_and_however_long_it_is() -> None:
    embedding = find_embedding("wordllama")
    long = " ".join([*ALIKE, OTHER] * 400)

    alone, together = embedding.embed([long]), embedding.embed([*ALIKE, long])

    np.testing.assert_array_equal(alone[0], together[2])
    mean = embedding.embed([" ".join([*ALIKE, OTHER])])[0]
    assert alone[0] @ mean / np.linalg.norm(alone[0]) / np.linalg.norm(mean) == pytest.approx(1, abs=1e-3)


@pytest.mark.usefixtures("_is_there")
def test_nothing_is_fetched_and_nothing_of_the_package_runs(tmp_path: Path) -> None:
    script = AWAY.format(home=str(tmp_path)) + EMBED
    environment = {"DJANGO_SETTINGS_MODULE": "config.settings", "QUIRE_VAR": str(tmp_path), "PATH": ""}

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=settings.BASE_DIR, env=environment, capture_output=True, text=True
    )

    assert done.stdout.strip() == "(1, 256) []", done.stderr


@pytest.mark.usefixtures("_is_there")
@pytest.mark.django_db
def test_where_it_is_there_it_is_offered_first(client: Client) -> None:
    study = factories.study()
    client.force_login(factories.staff("researcher"))

    html = client.get(f"/studies/{study.slug}/stories/measures/").content.decode()

    assert embeddings.list_local() == [embeddings.first_offered(), "tfidf-svd"] == ["wordllama", "tfidf-svd"]
    assert html.index('<option value="wordllama"') < html.index('<option value="tfidf-svd"')


@pytest.mark.usefixtures("_is_away")
def test_where_it_is_not_shared_words_are_offered_and_its_name_says_how_to_have_it() -> None:
    assert embeddings.first_offered() == "tfidf-svd"
    with pytest.raises(CannotEmbed, match=r"not installed.*\[word-vectors\]"):
        find_embedding("wordllama").embed(ALIKE)


def test_a_report_says_what_an_embedding_rests_on() -> None:
    assert embeddings.explain("wordllama") == "wordllama, on the meaning of words, in any order"
    assert embeddings.explain("tfidf-svd") == "tfidf-svd, on shared words"
    assert embeddings.explain("endpoint:house/bge") == "endpoint:house/bge, on the meaning of passages"
    assert embeddings.explain("word2vec:old") == "word2vec:old"
