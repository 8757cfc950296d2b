from django.db import migrations, models

HELP = (
    "Before a group for the reading desk, raters are asked whether they know one of its stories; "
    "whoever does gets another group."
)


class Migration(migrations.Migration):
    dependencies = [("studies", "0004_raw_text")]

    # Studies that are there already were planned without the question, so it stays off for them.
    operations = [
        migrations.AddField("study", "asks_recognition", models.BooleanField(default=False, help_text=HELP)),
        migrations.AlterField("study", "asks_recognition", models.BooleanField(default=True, help_text=HELP)),
    ]
