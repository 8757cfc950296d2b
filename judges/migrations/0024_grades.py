from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('judges', '0023_foreign_logs'),
    ]

    operations = [
        migrations.AddField(
            model_name='parse',
            name='grades',
            field=models.JSONField(blank=True, default=dict, help_text='How probable each answer was, by key of the item, where the server says so.', verbose_name='probabilities'),
        ),
    ]
