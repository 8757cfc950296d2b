from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0006_analysis_plan'),
    ]

    operations = [
        migrations.AddField(
            model_name='study',
            name='pay',
            field=models.CharField(blank=True, help_text='What a rater is paid, with the currency.', max_length=200, verbose_name='pay'),
        ),
        migrations.AddField(
            model_name='study',
            name='pay_for_part',
            field=models.CharField(blank=True, help_text='What is paid to whoever stops before the end.', max_length=200, verbose_name='pay for a part'),
        ),
    ]
