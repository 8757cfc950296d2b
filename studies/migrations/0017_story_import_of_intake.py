"""The import that a worker brings in is called what its table is called."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("studies", "0016_pay_for_part_words")]

    operations = [migrations.RenameField("storyintake", "upload", "story_import")]
