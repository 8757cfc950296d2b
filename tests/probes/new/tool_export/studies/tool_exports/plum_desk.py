"""A tool that nobody has."""

from studies.tool_exports.base import AskedStories, ToolExport


class PlumDeskExport(ToolExport):
    name = "plum-desk"
    title = "Plum Desk"

    @staticmethod
    def files(asked: AskedStories) -> dict[str, str]:
        return {"questions.txt": "\n".join(question.name for question in asked.questions)}
