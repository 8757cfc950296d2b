"""A subset, as the page and the command make it."""

from django.contrib.auth.models import User
from django.db import transaction

from studies import subsets
from studies.models import Study
from studies.strata import SubsetRule, draw


@transaction.atomic
def create_subset(original: Study, rule: SubsetRule, title: str, *, by: User | None = None) -> Study:
    population = subsets.hold_population(original)
    return subsets.create_subset(original, population, draw(population.candidates, rule), title, by=by)
