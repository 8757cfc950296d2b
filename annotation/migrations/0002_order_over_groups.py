"""A row and a place for seats, the row that a rater holds, and which of their groups an assignment is.

Seats that were planned before have no row: people in them get the least-filled group, as before.
"""

from collections import Counter

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def number_assignments(apps: Apps, schema_editor: BaseDatabaseSchemaEditor | None) -> None:
    """Write the position of every group that somebody claimed, from the times at which they did.

    Who came in by a link or was simulated has claimed; the groups of imported answers were claimed by nobody.
    """
    Assignment = apps.get_model("annotation", "Assignment")
    claimed = Assignment.objects.filter(rater_kind="person").exclude(group=None)
    claimed = claimed.filter(models.Q(rater__is_simulated=True) | models.Q(rater__invitation__isnull=False))
    n_read: Counter[int] = Counter()
    for assignment in claimed.order_by("started_at", "pk"):
        Assignment.objects.filter(pk=assignment.pk).update(position=n_read[assignment.rater_id] + 1)
        n_read[assignment.rater_id] += assignment.read_before is not True


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial"), ("studies", "0001_initial")]

    operations = [
        migrations.RenameField("assignment", "place", "last_page"),
        migrations.AlterField(
            "assignment",
            "last_page",
            models.CharField(
                blank=True,
                help_text="Where the rater last was, to come back to.",
                max_length=200,
                verbose_name="last page",
            ),
        ),
        migrations.AddField(
            "assignment",
            "position",
            models.PositiveIntegerField(
                blank=True,
                help_text="Which of the groups that the rater reads this is, from 1; not counting any given back "
                "unread. Empty for judges and of imported answers.",
                null=True,
                verbose_name="position",
            ),
        ),
        migrations.AddField(
            "rater",
            "row",
            models.PositiveIntegerField(
                blank=True,
                editable=False,
                help_text="The row of places that the rater holds, to read along it; nobody else holds it meanwhile.",
                null=True,
                verbose_name="row",
            ),
        ),
        migrations.RemoveField("seat", "rank"),
        migrations.AddField(
            "seat",
            "row",
            models.PositiveIntegerField(
                blank=True,
                help_text="A row holds every group once, for one person to read along.",
                null=True,
                verbose_name="row",
            ),
        ),
        migrations.AddField(
            "seat",
            "place",
            models.PositiveIntegerField(
                blank=True,
                help_text="Where in its row the group stands, from 1.",
                null=True,
                verbose_name="place",
            ),
        ),
        migrations.AddConstraint(
            "rater", models.UniqueConstraint(fields=("study", "row"), name="row_held_once")
        ),
        migrations.AddConstraint(
            "seat", models.UniqueConstraint(fields=("group", "row"), name="group_once_in_a_row")
        ),
        migrations.AddConstraint(
            "seat", models.UniqueConstraint(fields=("study", "row", "place"), name="one_seat_at_a_place")
        ),
        migrations.AddConstraint(
            "seat",
            models.CheckConstraint(
                condition=models.Q(place__isnull=True, row__isnull=True)
                | models.Q(place__isnull=False, row__isnull=False),
                name="row_and_place_together",
            ),
        ),
        migrations.RunPython(number_assignments, migrations.RunPython.noop),
    ]
