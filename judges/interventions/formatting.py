"""The same words set in Markdown."""

import random
import re

from django.utils.translation import gettext_lazy as _

from judges.interventions.base import Intervention

N_TOGETHER = 4  # paragraphs below one heading
N_BOLD = 3  # words at the beginning of each


class Formatting(Intervention):
    """Numbered headings over every few paragraphs, and the first words of each in bold. No word is changed."""

    slug = "formatting"
    title = _("Markdown")
    description = _("Numbered headings, and the first words of each paragraph in bold.")
    words = _("with headings and bold type in Markdown")

    def apply(self, text: str, rng: random.Random) -> str:
        paragraphs = [part.strip("\n") for part in re.split(r"\n\s*\n", text) if part.strip()]
        blocks: list[str] = []
        for n, paragraph in enumerate(paragraphs):
            if n % N_TOGETHER == 0:
                blocks.append(f"## {n // N_TOGETHER + 1}")
            blocks.append(re.sub(rf"\A\s*((?:\S+[^\S\n]+){{0,{N_BOLD - 1}}}\S+)", r"**\1**", paragraph))
        return "\n\n".join(blocks) if blocks else text
