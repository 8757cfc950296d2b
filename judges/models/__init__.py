"""Raters without a browser: which models are asked, with which words, and every call that was made.

Endpoint  where a model is reached. Holds the name of the key's environment variable, never the key.
Prompt    what a model is told, in one version. Once used, it never changes.
Judge     an endpoint, a model, a prompt and parameters; or a metric in one version. Each study that it judges gets its
          own rater, of the same code.
Run       a judge at work in a study; what it does is frozen as a document before the first call.
Call      one item about one story (or a group), to be asked once; a cloze is asked for as a whole, all its items in one
          call, and a metric for all its values. All calls are rows before the first is sent.
Attempt   one sending of a call, written down before it is sent.
"""

from judges.models.judges import AlreadyUsed, Endpoint, Judge, Prompt, refuse_change
from judges.models.runs import Attempt, Call, Run

__all__ = ["AlreadyUsed", "Attempt", "Call", "Endpoint", "Judge", "Prompt", "Run", "refuse_change"]
