"""The names of tables and fields as the admin shows them, in the language of whoever looks.

Django takes them from the code. They are listed here once more so that they can be translated; written at every field
they would ask for migrations that change no table.
"""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_noop as _

# fmt: off
NAMES = (
    _("active seconds"), _("adapted"), _("adapter"), _("answered at"), _("arrived at"), _("asks recognition"),
    _("assignment"), _("assignments"), _("at"), _("attempt"), _("attempts"), _("background"), _("base url"),
    _("busy until"), _("call"), _("calls"), _("citation"), _("closed at"), _("closes at"), _("cloze"), _("code"),
    _("commitment"), _("consent"), _("consents"), _("contact"), _("created at"), _("created by"), _("description"),
    _("digest"), _("dimension"), _("document"), _("edited text"), _("email"), _("ended at"), _("endpoint"),
    _("endpoints"), _("expires at"), _("factors"), _("fill"), _("filling"), _("fills"), _("fingerprint"),
    _("finished at"), _("first answered at"), _("frozen at"), _("frozen by"), _("group"), _("groups"),
    _("groups per sitting"), _("head"), _("help"), _("identity"), _("instruction"), _("instrument"), _("instruments"),
    _("invitation"), _("invitations"), _("is allowed"), _("is outside"), _("is simulated"), _("is skippable"),
    _("is taken"), _("is verbatim"), _("is withheld"), _("issued at"), _("item"), _("items"), _("judge"), _("judges"),
    _("judging"), _("key"), _("key variable"), _("kind"), _("label"), _("language"), _("last active at"),
    _("last edited at"), _("launched at"), _("layout"), _("lease"), _("lease until"), _("licence"), _("locks"),
    _("made at"), _("made by"), _("may redistribute"), _("may send out"), _("minutes"), _("model"), _("n failures"),
    _("n pasted"), _("n tokens in"), _("n tokens out"), _("n words"), _("name"), _("not before"), _("note"),
    _("notice"), _("number"), _("options"), _("order"), _("order policy"), _("organiser"), _("outcome"),
    _("parameters"), _("payment"), _("place"), _("platform"), _("platform id"), _("position"), _("premise"),
    _("prompt"), _("prompts"), _("protocol"), _("protocol version"), _("protocol versions"), _("provenance"),
    _("provenances"), _("question"), _("quoted"), _("quotes"), _("rank"), _("rater"), _("rater kind"), _("raters"),
    _("rationale"), _("rationale label"), _("rationale least"), _("rationale unit"), _("raw sha256"), _("raw text"),
    _("read before"),
    _("reason"), _("receipt"), _("recognition"), _("recognitions"), _("report"), _("reports"), _("request"),
    _("response"), _("response event"), _("response events"), _("responses"), _("result"), _("revises"),
    _("revision"),
    _("revoked at"), _("run"), _("runs"), _("scope"), _("seat"), _("seats"), _("seats per group"), _("section"),
    _("samples"),
    _("seed"), _("sent at"), _("settings"), _("sha256"), _("shortlisted by"), _("shows premise"), _("slug"),
    _("source"), _("sources"), _("started at"), _("state"), _("status"), _("step"), _("step taken"),
    _("steps"), _("steps taken"), _("stopped at"),
    _("stories"), _("story"), _("story group"), _("story groups"), _("study"), _("suggested"), _("system"),
    _("template"), _("text"), _("text sha256"), _("timed until"), _("timeout seconds"), _("timing"), _("timings"),
    _("title"), _("token sha256"), _("type"), _("url"), _("value"), _("version"), _("withdrawal"), _("withdrawals"),
    _("words"), _("wrong"),
)
# fmt: on


def translate(app: AppConfig) -> None:
    """Let every name that Django took from the app's code be said in the language of whoever looks."""
    for model in app.get_models():
        meta = model._meta
        name = str(meta.verbose_name)
        meta.verbose_name = gettext_lazy(name)
        if "verbose_name_plural" not in meta.original_attrs:
            plural = f"{name}s"
            meta.verbose_name_plural = gettext_lazy(plural)
        for field in (*meta.local_fields, *meta.local_many_to_many):
            if isinstance(field.verbose_name, str):
                field.verbose_name = gettext_lazy(field.verbose_name)
