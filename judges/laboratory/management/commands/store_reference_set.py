"""`manage.py store_reference_set STUDY NAME`: stories that the report measures novelty and near-copies against."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from judges.laboratory import embeddings, reference_sets
from studies.lookup import NoSuchStudy, find_study


class Command(BaseCommand):
    help = "Store the readable stories of a study under a name; the report then measures novelty and near-copies."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="whose stories are measured")
        parser.add_argument("name", help="what the set is called in the report")
        parser.add_argument("--stories-of", metavar="STUDY", help="whose stories it holds; those of the study itself")
        parser.add_argument(
            "--embedding",
            default=embeddings.first_offered(),
            help="wordllama (default where it is installed), tfidf-svd (else the default), sentence-transformers:MODEL "
            "or endpoint:ENDPOINT/MODEL, which may cost money",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            study = find_study(options["study"])
            corpus = find_study(options["stories_of"]) if options["stories_of"] else None
            row = reference_sets.store(
                study, options["name"], embedding=options["embedding"], corpus=corpus, by="command", at=timezone.now()
            )
        except (NoSuchStudy, reference_sets.CannotStore) as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{row.name}: {len(row.stories)} stories of {row.corpus.slug}, {row.embedding} {row.version}")
