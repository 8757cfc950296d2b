from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0013_places_that_become_free")]

    operations = [
        migrations.AddField(
            model_name="broughtfile",
            name="content",
            field=models.BinaryField(default=b"", verbose_name="file, compressed"),
        ),
        migrations.AddField(
            model_name="broughtfile",
            name="reading",
            field=models.JSONField(default=dict, verbose_name="how it was read"),
        ),
    ]
