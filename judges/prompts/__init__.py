"""What a model is told: the stories inside a fence, the task outside it. No Django models here.

Data files beside these modules hold the prompts of the sources and ours, the personas and the fixed texts.
"""

from judges.prompts.errors import InvalidPrompt
from judges.prompts.examples import Candidate, JudgedStory, choose_examples
from judges.prompts.fences import fence, is_fenced_story, leaks_canary, new_canary, new_mark, strip_echoes, strip_marks
from judges.prompts.files import (
    AnchorFile,
    AnchorText,
    Persona,
    PersonaFile,
    PromptFile,
    find_built_in,
    load_anchors,
    load_built_in,
    load_personas,
    read_prompt,
)
from judges.prompts.messages import (
    Example,
    Message,
    PromptContext,
    Question,
    StoryText,
    fence_example,
    fence_written,
    join,
    messages_of,
    render,
    render_all,
    render_probe,
    render_writing,
)
from judges.prompts.schemas import schema_of
from judges.prompts.templates import WRITING, TemplateShape, check_templates, names_in, shape_of

__all__ = [
    "WRITING",
    "AnchorFile",
    "AnchorText",
    "Candidate",
    "Example",
    "InvalidPrompt",
    "JudgedStory",
    "Message",
    "Persona",
    "PersonaFile",
    "PromptContext",
    "PromptFile",
    "Question",
    "StoryText",
    "TemplateShape",
    "check_templates",
    "choose_examples",
    "fence",
    "fence_example",
    "fence_written",
    "find_built_in",
    "is_fenced_story",
    "join",
    "leaks_canary",
    "load_anchors",
    "load_built_in",
    "load_personas",
    "messages_of",
    "names_in",
    "new_canary",
    "new_mark",
    "read_prompt",
    "render",
    "render_all",
    "render_probe",
    "render_writing",
    "schema_of",
    "shape_of",
    "strip_echoes",
    "strip_marks",
]
