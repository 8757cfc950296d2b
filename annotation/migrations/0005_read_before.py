from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_timed_until")]

    operations = [
        migrations.AddField(
            "assignment",
            "read_before",
            models.BooleanField(
                null=True,
                help_text="Whether the rater knew one of the stories before reading; nothing if they were not asked.",
            ),
        ),
    ]
