"""Why something does not go on: kept in English with its values, and written anew for whoever reads it."""

from collections.abc import Mapping

from django.utils.translation import gettext, gettext_noop

from judges import reasons
from judges.providers import FailureKind

REFUSED_ALIKE = gettext_noop("requests in a row that were refused with the same words: %(n)s, such as: %(reason)s")
BLOCKED_IN_A_ROW = gettext_noop(
    "requests in a row about different stories that the provider's filter stopped: %(n)s, such as: %(reason)s"
)
# As it was kept before; rows may still have it.
EARLIER = (
    gettext_noop("The budget of %(budget)s USD was spent with calls left: %(n)s. Raise it, or close the run."),
    gettext_noop("The first %(n)s calls got no answer, the last because: %(reason)s"),
    gettext_noop(
        "The first %(n)s replies could not be read. Change the prompt to ask for the expected form, or "
        "choose a model that keeps to it; then resume the run. (%(reason)s)"
    ),
    gettext_noop("the provider did not take on the batch %(batch)s"),
    gettext_noop(
        "%(host)s is the private address %(number)s; if this is an endpoint of yours, add %(host)s:%(port)s to "
        "QUIRE_ALLOWED_PRIVATE_ENDPOINTS"
    ),
    gettext_noop(
        "The first %(n)s replies could not be read. Have the prompt ask for the answer in the form that is read, or "
        "choose a model that keeps to it; then let the run go on. (%(reason)s)"
    ),
    gettext_noop(
        "There is a budget, and no price of %(model)s by which to keep it. Have an administrator enter the price under "
        "Records, Prices (0 if it costs nothing), or take the limit away; then let the run go on."
    ),
    gettext_noop(
        "The budget of %(budget)s USD may not bear another call, with calls left: %(n)s. Raise it, or close the run."
    ),
    gettext_noop("calls of which nobody knows what became of them: %(n)s"),
    gettext_noop("the environment variable %(name)s holds what is no key"),
    gettext_noop("%(url)r holds a character that does not belong into an address"),
    gettext_noop("the address holds a user or password; a key belongs into an environment variable"),
)
# Of a request that failed: what that means, what to do about it, and what the provider said.
FAILED = "%(what)s %(way_out)s (%(reason)s)"


def write_note(sentence: str, values: Mapping[str, str | int]) -> str:
    """The sentence in the language of whoever reads; what a provider said in it stays as it was said.

    values : for its places; a `kind` of failure gives `what` has happened and the `way_out`
    """
    if not values:
        return gettext(reasons.translate(sentence)) if sentence else ""
    if "kind" in values:
        kind = FailureKind(str(values["kind"]))
        values = {"what": kind.sentence, "way_out": kind.way_out, **values}
    if "reason" in values:
        values = {**values, "reason": reasons.translate(str(values["reason"]))}
    return gettext(sentence) % values
