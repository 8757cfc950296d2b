"""The reference sets of a study, with the texts that are still what they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judges.laboratory import reference_sets
from judges.laboratory.reference_sets import Material
from judges.models import ReferenceSet
from studies.models import Study

if TYPE_CHECKING:
    from stats.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class References:
    about: ReferenceSet
    material: Material

    def read_vectors(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """Those of stories and references, and each story's own number. Raises CannotEmbed."""
        return reference_sets.embed(self.about, self.material)


def read_references(study: Study) -> list[References]:
    """One query, and two for each set."""
    sets = ReferenceSet.objects.filter(study=study).select_related("corpus", "study")
    return [References(one, reference_sets.read_material(one)) for one in sets]
