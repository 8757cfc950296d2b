"""Two hundred mails by a real worker that is killed five times: none twice, each unknown outcome listed."""

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import InvitationMail
from annotation.participation import mails, people
from tests import factories
from tests.smtp import receiving
from tests.worker import until, working

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("committed", "broker")]
N, N_REFUSED, KILLS = 200, 5, 5
SITE = "https://quire.example.org"


def test_a_worker_that_is_killed_five_times_sends_no_mail_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    study = factories.study()
    lines = [f"P{n}, {'refused' if n < N_REFUSED else 'p'}{n}@example.org" for n in range(N)]
    invited = people.note(study, people.read_people("\n".join(lines)))
    with receiving(seconds=0.05) as server:
        monkeypatch.setenv("EMAIL_URL", f"smtp://127.0.0.1:{server.port}")
        for invitation in invited:
            mails.ask_for(invitation, "invitation", site=SITE, at=timezone.now())
        for kill in range(1, KILLS + 1):
            with working() as worker:
                assert until(lambda kill=kill: len(server.recipients) >= 30 * kill)
                worker.kill()
                worker.wait()
        # A message that went down with its worker is sent anew by the sweep, an attempt is not.
        mails.sweep(at=timezone.now() + timedelta(minutes=10))
        with working():
            assert until(lambda: not InvitationMail.objects.filter(state__in=["waiting", "attempted"]).exists())
        by_state = Counter(InvitationMail.objects.values_list("state", flat=True))
        unknown = mails.find_latest(study, "unknown", at=timezone.now())
        n_before = len(server.recipients)
        assert len(server.recipients) == len(set(server.recipients)), "nobody got two"
        with working():
            mails.send_again(list(unknown.select_related("invitation__identity")), site=SITE, at=timezone.now())
            assert until(lambda: not InvitationMail.objects.filter(state__in=["waiting", "attempted"]).exists())

    print(f"{by_state}; the server took {n_before}, of {N - N_REFUSED}")
    assert by_state["refused"] == N_REFUSED
    assert sum(by_state.values()) == N
    assert 1 <= by_state["unknown"] <= KILLS
    assert len(set(server.recipients)) == N - N_REFUSED
    refusals = InvitationMail.objects.filter(state="refused").values_list("message", flat=True)
    assert set(refusals) == {"550 5.1.1 <…> no such user"}
