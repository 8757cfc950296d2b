from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("studies", "0021_hours_per_group")]

    operations = [
        migrations.AddField(
            model_name="storyimport",
            name="content",
            field=models.BinaryField(default=b"", verbose_name="file, compressed"),
        ),
        migrations.AddField(
            model_name="storyimport",
            name="reading",
            field=models.JSONField(default=dict, verbose_name="how it was read"),
        ),
    ]
