from django.db import migrations, models


def keep_in_the_assignment(apps, schema_editor):
    """That somebody knew a story before reading stands in their assignment; it stood in a row without a story too."""
    before = apps.get_model("annotation", "Recognition").objects.filter(story=None)
    assignments = apps.get_model("annotation", "Assignment").objects
    assignments.filter(pk__in=before.values("assignment")).update(read_before=True)
    before.delete()


class Migration(migrations.Migration):
    dependencies = [("annotation", "0006_steps_taken")]

    operations = [
        migrations.RunPython(keep_in_the_assignment, migrations.RunPython.noop),
        migrations.RemoveConstraint("recognition", "recognised_once"),
        migrations.AlterField(
            "recognition",
            "story",
            models.ForeignKey(on_delete=models.deletion.PROTECT, to="studies.story"),
        ),
        migrations.AddConstraint(
            "recognition",
            models.UniqueConstraint(fields=("assignment", "story"), name="recognised_once"),
        ),
    ]
