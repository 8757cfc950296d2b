"""Embeddings of an endpoint's model: a run of the study that they are made for, whose requests are calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from judges import parsing, prompts, runs
from judges.laboratory.embeddings.base import CannotEmbed, Embedding, Occasion, split_chunks
from judges.models import Call, Endpoint, Judge, Run
from judges.planning import CannotRun, estimates
from judges.providers import VECTORS, Request
from judges.requests import texts as stored_texts
from studies import hashing, licences
from studies.documents.names import first_free
from studies.models import Story

RULE = "1"  # raised whenever chunks or their mean are made otherwise
# More than encoders of sentences read at once, and within what the smallest of those that are sold do (2,048 tokens).
CHUNK_WORDS = 800
CHUNKS_A_REQUEST = 32
PARAMETERS = {"max_tokens": 0}  # no word comes back, and none is paid for


class EndpointEmbedding(Embedding):
    """A model of an endpoint that takes embeddings (OpenAI-compatible), named ENDPOINT/MODEL.

    A text is cut into chunks of at most 800 words (`split_chunks`); its vector is the mean of the chunks' unit vectors,
    of length 1 again. To an outside endpoint goes only what may: a text whose stories all are marked so, in whichever
    studies it stands; or one of no story, if `may_send_out`. Whoever asks approves the run; what came back stays, so
    that asking again goes on.
    """

    kind = "endpoint"
    is_remote = True

    @property
    def version(self) -> str:
        return RULE

    def fetch(self, texts: Sequence[str]) -> None:
        endpoint, model = self._find_endpoint()
        if endpoint.is_outside:
            self._check_sendable(texts, endpoint)
        if self.occasion is None:
            message = _(
                "%(name)s: %(n)s texts have no vector yet, and requests stand in the runs of a study; name one "
                "(train_preference --run-in STUDY)"
            )
            raise CannotEmbed(message % {"name": self.name, "n": len(texts)})
        try:
            run = self._find_unfinished(endpoint, model) or self._write(endpoint, model, texts, self.occasion)
            if run.state == Run.State.PLANNED:
                run = runs.approve(run, by=self.occasion.by)
            elif run.state != Run.State.RUNNING:
                run = runs.resume(run)
        except CannotRun as error:
            raise CannotEmbed(f"{self.name}: {error}") from None
        run = runs.drain(run)
        if run.state != Run.State.FINISHED or run.calls.exclude(state=Call.State.OK).exists():
            self._refuse(run)

    def _refuse(self, run: Run) -> None:
        """Raise CannotEmbed with why the run has not brought what was asked for."""
        why = run.note or (run.judge.endpoint.attention if run.judge.endpoint else "")
        lost = run.calls.exclude(state=Call.State.OK).exclude(reason="").values_list("reason", flat=True).first()
        message = _("%(name)s: %(why)s Replies received are kept: ask again to continue")
        raise CannotEmbed(message % {"name": self.name, "why": f"{(why or lost or '').rstrip('.')}."})

    def _find_endpoint(self) -> tuple[Endpoint, str]:
        """The endpoint and the model's name there. Raises CannotEmbed if there is none, or it is not allowed."""
        name, _slash, model = self.model.partition("/")
        endpoint = Endpoint.objects.filter(name=name).first()
        if endpoint is None or not model:
            message = _(
                "“%(name)s” names no endpoint with a model: write endpoint:ENDPOINT/MODEL; there are: %(names)s"
            )
            names = ", ".join(Endpoint.objects.values_list("name", flat=True)) or "–"
            raise CannotEmbed(message % {"name": self.name, "names": names})
        if not endpoint.is_allowed:
            message = _("%(name)s: an administrator has not allowed the endpoint %(endpoint)s")
            raise CannotEmbed(message % {"name": self.name, "endpoint": endpoint.name})
        if endpoint.provider is None or VECTORS not in endpoint.provider.gives:
            message = _("%(name)s: %(provider)s gives no embeddings; use another endpoint")
            raise CannotEmbed(message % {"name": self.name, "provider": endpoint.adapter})
        return endpoint, model

    def _check_sendable(self, texts: Sequence[str], endpoint: Endpoint) -> None:
        hashes = {hashing.sha256(text) for text in texts}
        leave = licences.find_leave(hashes)
        n_refused = sum(not leave.get(sha, self.may_send_out) for sha in hashes)
        if n_refused:
            message = ngettext(
                "%(n)d text is not marked as free to be sent to an outside provider, which %(endpoint)s is; release it "
                "in its study, or use another embedding",
                "%(n)d texts are not marked as free to be sent to an outside provider, which %(endpoint)s is; release "
                "them in their studies, or use another embedding",
                n_refused,
            )
            raise CannotEmbed(message % {"n": n_refused, "endpoint": endpoint.name})

    def _find_unfinished(self, endpoint: Endpoint, model: str) -> Run | None:
        runs_of_model = Run.objects.filter(judge__in=_find_measurers(endpoint, model)).exclude(state=Run.State.FINISHED)
        return runs_of_model.filter(study=self.occasion.study).first() if self.occasion else None

    def _write(self, endpoint: Endpoint, model: str, texts: Sequence[str], occasion: Occasion) -> Run:
        """The run that asks for these texts, planned. Raises CannotEmbed."""
        requests = list(_build_requests(self, model, texts))
        judge = _make_measurer(endpoint, model)
        document = hashing.canonical_json(
            {
                "study": occasion.study.slug,
                "judge": judge.slug,
                "measure": self.name,
                "version": self.version,
                "endpoint": {"name": endpoint.name, "adapter": endpoint.adapter, "base_url": endpoint.base_url},
                "model": model,
                "parameters": PARAMETERS,
                "parser": parsing.VERSION,
                "may_send_out": self.may_send_out,
                "texts": [sha256 for request in requests for sha256, _n in request["of"]["texts"]],
            }
        )
        estimate = estimates.estimate(judge, requests, on=timezone.now().date())
        try:
            with transaction.atomic():
                run = Run.objects.create(
                    study=occasion.study,
                    judge=judge,
                    state=Run.State.PLANNED,
                    document=document,
                    sha256=hashing.sha256(document),
                    created_by=occasion.by,
                    n_planned=len(requests),
                    estimate=estimate.document,
                )
                shelf, story_by_hash = stored_texts.Shelf(), _find_stories(texts)
                calls = [_make_call(run, request, shelf, story_by_hash) for request in requests]
                shelf.store()
                Call.objects.bulk_create(calls, batch_size=200)
        except IntegrityError:
            message = _("%(name)s has just been asked in %(study)s; look at its run")
            raise CannotEmbed(message % {"name": self.name, "study": occasion.study.slug}) from None
        return run


def _find_measurers(endpoint: Endpoint, model: str) -> list[Judge]:
    return list(Judge.objects.filter(endpoint=endpoint, model=model, parameters=PARAMETERS, is_measurer=True))


def _make_measurer(endpoint: Endpoint, model: str) -> Judge:
    """The row that stands for the model where it embeds and judges nothing."""
    if rows := _find_measurers(endpoint, model):
        return rows[0]
    name = slugify(f"embedding {endpoint.name} {model}") or "embedding"
    slugs = set(Judge.objects.filter(slug__startswith=name[:40]).values_list("slug", flat=True))
    return Judge.objects.create(
        slug=first_free(name, slugs, longest=80),
        endpoint=endpoint,
        model=model,
        parameters=PARAMETERS,
        is_measurer=True,
    )


def _build_requests(embedding: EndpointEmbedding, model: str, texts: Sequence[str]) -> Iterator[Request]:
    """Requests of whole texts, each of about 32 chunks."""
    chunks: list[str] = []
    of_texts: list[tuple[str, int]] = []
    of = {"measure": embedding.name, "version": embedding.version}

    def build() -> Request:
        messages = [{"role": "user", "content": chunk} for chunk in chunks]
        return {
            "model": model,
            "messages": messages,
            "parameters": PARAMETERS,
            "asks": VECTORS,
            "of": {**of, "texts": list(of_texts)},
        }

    for text in texts:
        parts = split_chunks(text, most=CHUNK_WORDS)
        if chunks and len(chunks) + len(parts) > CHUNKS_A_REQUEST:
            yield build()
            chunks, of_texts = [], []
        chunks += parts
        of_texts.append((hashing.sha256(text), len(parts)))
    if chunks:
        yield build()


def _find_stories(texts: Sequence[str]) -> dict[str, Story]:
    """A story of each text, by its hash, where there is one: erasing it reaches what is sent."""
    hashes = list({hashing.sha256(text) for text in texts})
    rows: dict[str, Story] = {}
    for start in range(0, len(hashes), stored_texts.N_AT_ONCE):
        chosen = Story.objects.filter(sha256__in=hashes[start : start + stored_texts.N_AT_ONCE]).defer("text")
        rows |= {story.sha256: story for story in chosen.order_by("-pk")}
    return rows


def _make_call(run: Run, request: Request, shelf: stored_texts.Shelf, story_by_hash: dict[str, Story]) -> Call:
    """The row of one request; each chunk is stored with the story that it is of."""
    salt, chunks = prompts.new_mark(), iter(request["messages"])
    messages = []
    for sha256, n_chunks in request["of"]["texts"]:
        story = story_by_hash.get(sha256)
        for _number in range(n_chunks):
            # No fence stands around a text, so a salt keeps other calls from sharing its row.
            stored = shelf.put(next(chunks)["content"], story, salt=f"{salt} {sha256}")
            messages.append({"role": "user", "texts": [stored]})
    return Call(
        run=run,
        kind=Call.Kind.EMBED,
        request=request | {"messages": messages},
        request_sha256=stored_texts.fingerprint(request, endpoint=run.judge.endpoint_id),
    )
