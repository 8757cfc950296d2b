import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):

    dependencies = [
        ('judges', '0015_reference_set_corpus'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='call', name='answers_stand_in_a_seat'),
        migrations.RemoveConstraint(model_name='judge', name='judge_is_a_model_or_a_metric'),
        migrations.AddField(
            model_name='judge',
            name='is_measurer',
            field=models.BooleanField(default=False, editable=False, help_text='It was made to ask for log-probabilities or vectors; it judges nothing, and no report or list counts it.', verbose_name='only measures texts'),
        ),
        migrations.AddField(
            model_name='scorecard',
            name='run',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='score_cards', to='judges.run', verbose_name='run'),
        ),
        migrations.AlterField(
            model_name='call',
            name='kind',
            field=models.CharField(choices=[('answer', 'Answer'), ('fill', 'fill of a cloze'), ('probe', 'whether the model knows the text'), ('test', 'question about a fixed text'), ('generate', 'text to be written'), ('likelihood', 'log-probabilities of a text'), ('embed', 'vectors of texts')], default='answer', max_length=10, verbose_name='kind'),
        ),
        migrations.AddConstraint(
            model_name='call',
            constraint=models.CheckConstraint(condition=Q(kind__in=['probe', 'test', 'likelihood', 'embed'], assignment__isnull=True) | Q(kind='generate', assignment__isnull=True, draft__isnull=False) | Q(kind__in=['answer', 'fill'], assignment__isnull=False, step__isnull=False), name='answers_stand_in_a_seat'),
        ),
        migrations.AddConstraint(
            model_name='judge',
            constraint=models.CheckConstraint(condition=(Q(metric='', metric_version='', endpoint__isnull=False) & (Q(prompt__isnull=False) | Q(is_measurer=True))) | (~Q(metric='') & ~Q(metric_version='') & Q(endpoint__isnull=True, prompt__isnull=True, model='')), name='judge_is_a_model_or_a_metric', violation_error_message='A judge is either a model with endpoint and prompt, or a metric.'),
        ),
    ]
