"""JSON of tools, task by task: one row a judgement, without what the task says beside its answers."""

import json
from dataclasses import replace
from typing import Any

import pytest

from annotation.answer_import.files import ANSWERS
from studies.incoming_tables.errors import UnreadableFile
from studies.incoming_tables.files import read_file
from studies.incoming_tables.readings import ReadingChoices
from studies.story_import.files import STORIES
from tests.studies.incoming_tables.test_tools import TIDE, cells


def make_tasks(*answers: dict[str, Any], **data: str) -> bytes:
    """A file of Label Studio with one task. answers : of each annotator, by control"""
    annotations = [
        {"completed_by": n, "result": [{"from_name": name, "value": {"text": said}} for name, said in answer.items()]}
        for n, answer in enumerate(answers, start=1)
    ]
    task = {"id": 1, "data": data, "annotations": annotations}
    return json.dumps([task], ensure_ascii=False).encode("cp1252")


def test_what_a_task_says_itself_is_no_answer_to_a_control_of_its_name() -> None:
    table = read_file("a.json", make_tasks({"title": "Tides"}, {"why": "Gulls."}, title="A flood"), ANSWERS)

    assert cells(table, "annotator", "title", "why") == [("1", "Tides", ""), ("2", "", "Gulls.")]


def test_a_guessed_encoding_of_a_tool_s_file_is_told_and_another_can_be_chosen() -> None:
    content = make_tasks({"why": "Café"})
    chosen = read_file("a.json", content, ANSWERS, ReadingChoices(encoding="mac-roman"))

    table = read_file("a.json", content, ANSWERS)

    assert (table.encoding, table.reading.unsure, table.content) == ("cp1252", ("encoding",), content)
    assert (cells(table, "why"), cells(chosen, "why")) == ([("Café",)], [("CafÈ",)])


def test_a_long_text_is_not_told_again_with_each_judgement_and_too_many_are_refused() -> None:
    content = make_tasks({"q": "4"}, {"q": "5" * 1_001}, text=TIDE * 100, model="plum-1")

    assert "text" not in read_file("a.json", content, ANSWERS).columns
    assert cells(read_file("a.json", content, STORIES), "text") == [(TIDE * 100,)]
    assert cells(read_file("a.json", content, ANSWERS), "q", "model") == [("4", "plum-1"), ("5" * 1_001, "plum-1")]
    with pytest.raises(UnreadableFile, match="more than 1 rows"):
        read_file("a.json", content, replace(ANSWERS, most_rows=1))
