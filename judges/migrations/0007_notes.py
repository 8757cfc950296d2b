from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judges", "0006_not_asked")]

    operations = [
        migrations.RenameField("run", "note", "note_sentence"),
        migrations.AddField(
            "run",
            "note_values",
            models.JSONField(blank=True, default=dict, editable=False, verbose_name="values of the note"),
        ),
    ]
