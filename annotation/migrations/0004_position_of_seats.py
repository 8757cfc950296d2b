"""A seat's place in its row is called its position, as an assignment's position in what its rater reads."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_new_links_and_rate_of_saves"),
    ]

    operations = [
        migrations.RemoveConstraint("seat", "one_seat_at_a_place"),
        migrations.RemoveConstraint("seat", "row_and_place_together"),
        migrations.RenameField("seat", "place", "position"),
        migrations.AlterField(
            "seat",
            "position",
            models.PositiveIntegerField(
                blank=True, help_text="Where in its row the group stands, from 1.", null=True, verbose_name="position"
            ),
        ),
        migrations.AddConstraint(
            "seat", models.UniqueConstraint(fields=("study", "row", "position"), name="one_seat_at_a_position")
        ),
        migrations.AddConstraint(
            "seat",
            models.CheckConstraint(
                condition=models.Q(
                    ("position__isnull", True),
                    ("row__isnull", True),
                )
                | models.Q(
                    ("position__isnull", False),
                    ("row__isnull", False),
                ),
                name="row_and_position_together",
            ),
        ),
    ]
