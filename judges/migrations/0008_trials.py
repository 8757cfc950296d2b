from django.db import migrations, models


def mark_trials(apps, schema_editor):
    """Mark the judges that choose_prompt made before it marked them by itself."""
    made = apps.get_model("judges", "Judge").objects.filter(slug__startswith="validation-", runs__created_by="choose_prompt")
    apps.get_model("judges", "Judge").objects.filter(pk__in=list(made.values_list("pk", flat=True))).update(is_trial=True)


class Migration(migrations.Migration):
    dependencies = [("judges", "0007_notes")]

    operations = [
        migrations.AddField(
            "judge",
            "is_trial",
            models.BooleanField(
                default=False,
                editable=False,
                help_text="It was made to choose among prompts; no report or list counts it.",
                verbose_name="only tries a prompt",
            ),
        ),
        migrations.RunPython(mark_trials, migrations.RunPython.noop),
    ]
