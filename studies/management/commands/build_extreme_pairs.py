"""`manage.py build_extreme_pairs FILE --to FOLDER --score NAME`: best and worst of n stories as pairs for people."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from studies import extreme_pairs
from studies.documents.errors import DocumentError


class Command(BaseCommand):
    help = (
        "Makes a study of the best and the worst story on each prompt by a score (docs/pairs.md); its report says how "
        "often people prefer the best."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="stories with prompt, text and score")
        parser.add_argument("--to", metavar="FOLDER", type=Path, required=True, help="a new folder")
        parser.add_argument("--score", metavar="NAME", default="Score", help="of the score, such as that of its model")
        parser.add_argument("--seed", type=int, default=0, help="of the study's orders")

    def handle(self, *, file: Path, to: Path, score: str, seed: int, **options: Any) -> None:
        try:
            built = extreme_pairs.build_extreme_pairs(file, to, name=score, seed=abs(seed))
        except (DocumentError, extreme_pairs.NoExtremes, FileExistsError) as error:
            raise CommandError(str(error)) from None
        card = built.card
        most, least = card["most_stories_a_prompt"], card["least_stories_a_prompt"]
        n_stories = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        self.stdout.write(f"{card['pairs']:,} pairs, best and worst of {n_stories} stories a prompt")
        if card["prompts_without_a_pair"]:
            self.stdout.write(f"{card['prompts_without_a_pair']:,} prompts have no two stories of different scores")
        self.stdout.write(f"Next: say in {to / 'study.toml'} who runs it, then manage.py load_study {to}")
