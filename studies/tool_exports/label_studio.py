"""Label Studio: a labelling configuration and its tasks. https://labelstud.io/tags/"""

import json
from xml.etree import ElementTree

from studies.tool_exports.base import AskedStories, Question, ToolExport

STORY = "story_text"


class LabelStudioExport(ToolExport):
    name = "label-studio"
    title = "Label Studio"

    @staticmethod
    def files(asked: AskedStories) -> dict[str, str]:
        view = ElementTree.Element("View")
        ElementTree.SubElement(view, "Text", name=STORY, value="$text")
        for question in asked.questions:
            _add_question(view, question)
        ElementTree.indent(view)
        tasks = [{"data": dict(story)} for story in asked.stories]
        return {
            "labelling.xml": ElementTree.tostring(view, encoding="unicode") + "\n",
            "tasks.json": json.dumps(tasks, ensure_ascii=False, indent=1) + "\n",
        }


def _add_question(view: ElementTree.Element, question: Question) -> None:
    if question.background:
        ElementTree.SubElement(view, "Header", size="5", value=question.background)
    ElementTree.SubElement(view, "Header", size="4", value=question.words)
    named = {"name": question.name, "toName": STORY, "required": "true"}
    match question.form:
        case "one" | "several":
            choice = "single" if question.form == "one" else "multiple"
            choices = ElementTree.SubElement(view, "Choices", named, choice=choice)
            for value, label in question.options:
                ElementTree.SubElement(choices, "Choice", value=label, alias=value)
        case "number":
            low, high = question.ends
            ElementTree.SubElement(view, "Number", named, min=f"{low:g}", max=f"{high:g}")
        case "words":
            ElementTree.SubElement(view, "TextArea", named, rows="4", maxSubmissions="1")
    if question.takes_reason:
        named = {"name": f"{question.name}.reason", "toName": STORY}
        ElementTree.SubElement(view, "TextArea", named, rows="4", maxSubmissions="1", placeholder="Reason")
