"""Files that lie elsewhere, are missing or too large: nothing of them comes in."""

import json
from pathlib import Path

import pytest

from studies import loader
from studies.documents import reader, stories
from tests.studies.folders import CSV, HEADER, ROW, STUDY, folder, refused

pytestmark = pytest.mark.django_db


OUTSIDE = ["/etc/hostname", "../secret.txt", "texts/../../secret.txt", "..\\secret.txt", "C:/secret.txt", "file:///x"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_text_file_never_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("Secret.")
    (tmp_path / "in" / "texts").mkdir(parents=True)
    csv = f"story,group,text_file,source,source_kind\ns1,g1,{name},Ann,other\n"
    path = folder(tmp_path / "in", csv=csv)

    said = f"“{name}” must name a file inside the study's folder, as in “texts/one.txt”"
    with refused(f"stories.csv: row 2, text_file: {said}"):
        loader.load_study(path)


@pytest.mark.parametrize("name", ["link.txt", "texts/secret.txt"])
def test_a_text_file_is_never_a_link_nor_in_a_linked_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.txt").write_text("Secret.")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "out" / "secret.txt")
    (tmp_path / "in" / "texts").symlink_to(tmp_path / "out")
    csv = f"story,group,text_file,source,source_kind\ns1,g1,{name},Ann,other\n"
    path = folder(tmp_path / "in", csv=csv)

    said = f"“{name}” is a link; put the file itself into the study's folder"
    with refused(f"stories.csv: row 2, text_file: {said}"):
        loader.load_study(path)


def test_a_linked_file_of_stories_is_refused(tmp_path: Path) -> None:
    path = folder(tmp_path, elsewhere=CSV)
    (path / "stories.csv").symlink_to(path / "stories.elsewhere")

    with refused("study.toml: file: “stories.csv” is a link; put the file itself into the study's folder"):
        loader.load_study(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no file “one.txt” in the study's folder"),
        (b"", "the file is empty"),
        (b"\xff\xfe", "line 1 is not UTF-8; save the file as UTF-8"),
        (b"x" * 1_000_001, "the file is larger than 1,000,000 bytes"),
    ],
)
def test_a_bad_text_file_is_refused_whole(tmp_path: Path, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / "one.txt").write_bytes(content)
    path = folder(tmp_path, csv="story,group,text_file,source,source_kind\ns1,g1,one.txt,Ann,other\n")

    with refused(f"stories.csv: row 2, text_file: {said}"):
        loader.load_study(path)


def test_a_folder_without_stories_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)

    said = "there is no file of stories in its folder; add one of stories.csv, stories.json, stories.jsonl"
    with refused(f"study.toml: file: {said}"):
        loader.load_study(tmp_path)


def test_two_files_of_stories_are_refused(tmp_path: Path) -> None:
    path = folder(tmp_path, csv=CSV, json=json.dumps([ROW]))

    with refused("study.toml: file: there are stories.csv and stories.json in its folder; keep one"):
        loader.load_study(path)


def test_a_missing_study_file_is_refused(tmp_path: Path) -> None:
    with refused("study.toml: file: cannot be read: No such file or directory"):
        loader.load_study(tmp_path)


def test_a_file_beyond_the_cap_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LARGEST_FILE", 50)
    path = folder(tmp_path, csv=CSV)

    with refused("stories.csv: file: the file is larger than 50 bytes"):
        loader.load_study(path)


def test_a_text_beyond_the_cap_is_refused(tmp_path: Path) -> None:
    path = folder(tmp_path, csv=f"{HEADER}\ns1,g1,{'x' * 1_000_001},Ann,other\n")

    with refused("stories.csv: row 2, text: is longer than 1,000,000 bytes"):
        loader.load_study(path)


def test_more_rows_than_the_cap_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stories, "MOST_ROWS", 1)
    path = folder(tmp_path)

    with refused("stories.csv: row 3: there are more than 1 rows; split the study"):
        loader.load_study(path)


def test_a_group_larger_than_the_alphabet_is_refused(tmp_path: Path) -> None:
    rows = [f"s{n},g1,Once.,Ann,other" for n in range(27)]
    path = folder(tmp_path, csv="\n".join([HEADER, *rows]))

    said = "group “g1” has more than 26 stories, and raters know them by letters"
    with refused(f"stories.csv: row 28, group: {said}"):
        loader.load_study(path)
