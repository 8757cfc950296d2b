"""What Celery is told of the laboratory: ids only, as of runs. Their names are those that workers have always known."""

from datetime import datetime

from celery import current_app, shared_task
from django.utils import timezone

from judges import runs
from judges.laboratory import measure_jobs, preference_models, prompt_choices, watches
from judges.models import PreferenceModel, PromptChoice


def queue_due(sender: object, *, at: datetime, **_: object) -> None:
    """Queue what has come to be compared, to be trained, or to be asked again."""
    for pk in prompt_choices.find_due().values_list("pk", flat=True):
        current_app.send_task("judges.tasks.compare_prompts", args=[pk], expires=runs.SWEEP_SECONDS)
    for pk in preference_models.find_due(at=at).values_list("pk", flat=True):
        preference_models.queue(pk)
    for pk in watches.find_due(at=at).values_list("pk", flat=True):
        current_app.send_task("judges.laboratory.tasks.check_judge", args=[pk], expires=runs.SWEEP_SECONDS)
    for pk in watches.find_finished().values_list("pk", flat=True):
        current_app.send_task("judges.laboratory.tasks.compare_check", args=[pk], expires=runs.SWEEP_SECONDS)


@shared_task(name="judges.tasks.compare_prompts")  # type: ignore[untyped-decorator]
def compare_prompts(choice_id: int) -> None:
    """Compare prompts with people's answers once their trials are over, and the chosen one once its run is."""
    choice = PromptChoice.objects.select_related("study", "judge", "run").filter(pk=choice_id).first()
    if choice is not None:
        prompt_choices.compare(choice, at=timezone.now())


@shared_task(name="judges.tasks.train_preference_model")  # type: ignore[untyped-decorator]
def train_preference_model(model_id: int) -> None:
    """Train a preference model that waits, from the votes of its study."""
    model = PreferenceModel.objects.select_related("study").filter(pk=model_id).first()
    if model is not None:
        preference_models.train_row(model, at=timezone.now())


@shared_task  # type: ignore[untyped-decorator]
def measure_texts(job_id: int) -> None:
    """Measure long texts by source; nothing if that is done or another worker is at it."""
    measure_jobs.carry_out(job_id)


@shared_task  # type: ignore[untyped-decorator]
def check_judge(watch_id: int) -> None:
    """Ask a watched judge about the fixed texts; nothing if it is not due any more."""
    watch = watches.find_due(at=timezone.now()).select_related("study", "judge__endpoint").filter(pk=watch_id).first()
    if watch is not None:
        watches.check(watch, at=timezone.now())


@shared_task  # type: ignore[untyped-decorator]
def compare_check(check_id: int) -> None:
    """Compare what a watched judge has answered with what it answered before."""
    made = watches.find_finished().select_related("run", "watch__judge", "watch__study").filter(pk=check_id).first()
    if made is not None:
        watches.compare(made, at=timezone.now())
