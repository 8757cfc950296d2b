"""`manage.py build_pairs FILE --to FOLDER`: pairs of stories from votes, and a study of them."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from studies import vote_pairs
from studies.documents.errors import DocumentError


class Command(BaseCommand):
    help = (
        "Makes pairs of stories on one prompt, of which the one with more votes is chosen, with the filters of "
        "LitBench (docs/pairs.md): a folder that load_study reads, with the pairs and a card of every count."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="stories with prompt, text, upvotes and date")
        parser.add_argument("--to", metavar="FOLDER", type=Path, required=True, help="a new folder")
        parser.add_argument("--test-from", metavar="DATE", help="stories from then on are for testing; the last fifth")
        parser.add_argument("--in-study", type=int, default=0, metavar="N", help="pairs in the study, drawn; all")
        parser.add_argument("--seed", type=int, default=0, help="decides which pairs the balance of lengths leaves")
        parser.add_argument("--least-upvotes", type=int, default=10, metavar="N")
        parser.add_argument("--most-tokens", type=int, default=2048, metavar="N")
        parser.add_argument("--least-words", type=int, default=50, metavar="N")
        parser.add_argument("--margin", type=float, default=0.25, help="least (chosen − rejected) / chosen of votes")

    def handle(self, *, file: Path, to: Path, test_from: str | None, seed: int, **options: Any) -> None:
        from stats.vote_pairs import VoteFilters

        if seed < 0 or options["in_study"] < 0:
            raise CommandError("--seed and --in-study are numbers from 0 on")
        names = ("least_upvotes", "most_tokens", "least_words", "margin")
        try:
            built = vote_pairs.build_pairs(
                file,
                to,
                filters=VoteFilters(**{name: options[name] for name in names}),
                seed=seed,
                test_from=_read_date(test_from) if test_from else None,
                most_in_study=options["in_study"],
            )
        except (DocumentError, vote_pairs.NoPairs, FileExistsError) as error:
            raise CommandError(str(error)) from None
        for line in _lines(built.card):
            self.stdout.write(line)
        self.stdout.write(f"Next: say in {to / 'study.toml'} who runs it, then manage.py load_study {to}")


def _read_date(words: str) -> float:
    """Seconds since 1970. Raises CommandError."""
    try:
        moment = datetime.fromisoformat(words)
    except ValueError:
        raise CommandError(f"--test-from: “{words}” is no date; write one such as 2023-01-01") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _lines(card: Mapping[str, Any]) -> Iterator[str]:
    """The card as text."""
    yield f"{card['file']['stories']:,} stories on {card['prompts']:,} prompts; for testing from {card['test_from']}"
    for name, part in card["parts"].items():
        yield f"{name}: {part['pairs']:,} pairs of {part['stories_in_pairs']:,} stories on {part['prompts']:,} prompts"
        for key, n in part["counts"].items():
            yield f"  {key:<10} {n:>12,}"
        lengths = part["lengths"]
        before, after = lengths["share_longer_before"], lengths["share_longer"]
        yield f"  the chosen one is the longer in {_percent(before)}, after the balance in {_percent(after)}"
        for key, ablation in part["without"].items():
            shares = f"{_percent(ablation['share_longer_before'])} → {_percent(ablation['share_longer'])}"
            yield f"  without {key:<10} {ablation['pairs']:>12,} pairs, the longer in {shares}"
    yield f"In the study: {card['study']['pairs']:,} pairs of the {card['study']['of']} part"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
