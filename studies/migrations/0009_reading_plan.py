from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0008_story_imports'),
    ]

    operations = [
        migrations.AddField(
            model_name='study',
            name='excluded_studies',
            field=models.JSONField(blank=True, default=list, editable=False, help_text='The slugs of studies whose raters get no group in this one.', verbose_name='excluded studies'),
        ),
        migrations.AddField(
            model_name='study',
            name='groups_per_rater',
            field=models.PositiveSmallIntegerField(blank=True, help_text='The most groups that one person may read; empty: as many as there are.', null=True, verbose_name='groups per rater'),
        ),
    ]
