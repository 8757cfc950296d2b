from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('judges', '0019_ledger'),
    ]

    operations = [
        migrations.AddField(
            model_name='attempt',
            name='system_fingerprint',
            field=models.CharField(blank=True, help_text='As the provider names the state of its servers; another one may answer otherwise.', max_length=200, verbose_name='fingerprint of the system'),
        ),
    ]
