"""Raters without a browser: which models are asked, with which words, and every call that was made.

Endpoint    where a model is reached. Holds the name of the key's environment variable, never the key.
Share       how many calls at once one worker may have at an endpoint; together never more than its limit.
ConnectionTest  what came of trying an endpoint, by a worker.
Price       what tokens cost at an endpoint, from a day on.
Bill        what a provider asked for a run, or for days at an endpoint, as somebody entered it beside what was counted.
Prompt      what a model is told, in one version. Once used, it never changes.
PersonaSet  as whom a model is told to answer, in one version. Once used, it never changes.
Judge       an endpoint, a model, a prompt and parameters; or a metric in one version. Each study that it judges gets
            its own rater, of the same code.
Run         a judge at work in a study; what it does is frozen as a document before the first call. A judge may run
            again in a study, about further stories or with further readings.
PromptChoice  which of several prompts a model is to judge pairs with, tried on pairs that it does not judge afterwards.
PromptTrial  one of those prompts, with the run that tries it.
Alignment   how a judge's prompt is brought nearer to experts: by proposals from one part of the groups, judged on the
            rest.
PromptProposal  one of the changed prompts that a model proposed, and what a person decided about it.
PreferenceModel  what learnt from pairs which of two texts is preferred, with its card. As a rater it is a metric.
Generation  a run that writes texts for a study, by a recipe; its judge is a writer and gets no rater.
Draft       one text on its way: a chain of calls from a premise, a story or a question to what comes of it.
GeneratedText  what came of a draft, as it came; and the story that it became, once a person had accepted it.
Reading     one pass of the judge over a seat: in which order, as whom, for which time. An assignment of its rater.
ProviderBatch  calls of a run that were handed in at once; its name is the worker of their attempts.
TextRelease  texts that were released for sending to outside providers: which, by whom, when and why.
ScoreCard   scores that were computed elsewhere: metric, version, direction, by whom, and the file they came from.
BroughtLog  a log of another tool, kept for the account that brought it until its replies come in.
Text        a part of what is sent, stored once, by hash.
Call        one item about one story (or a group), to be asked once; or all items of a step in one call, as of a cloze
            or of a metric. Some guard a run and stand in no seat: whether a text is known, questions about fixed texts.
            All calls are rows before the first is sent.
DriftWatch  a judge that is asked about the fixed texts every day, by the questions of a study.
DriftCheck  one of those days: its run, and how its answers lie beside those of the days before.
ReferenceSet  stories that those of a study are measured against, stored under a name with their embedding.
TextVector  a text as an embedding places it, by the text's hash, so that nothing is embedded twice.
Attempt     one HTTP request of a call, written down before it is sent, with all that came back.
Parse       what a version of the parser read in what came back.
"""

from judges.models.alignments import Alignment, PromptProposal
from judges.models.batches import ProviderBatch
from judges.models.bills import Bill
from judges.models.calls import Attempt, Call, Parse, Text
from judges.models.checks import AlreadyUsed
from judges.models.choices import PromptChoice, PromptTrial
from judges.models.connection_tests import ConnectionTest
from judges.models.endpoints import Endpoint, Price, Share
from judges.models.generations import Draft, GeneratedText, Generation
from judges.models.judges import Judge
from judges.models.logs import BroughtLog
from judges.models.preference_models import PreferenceModel
from judges.models.prompts import PersonaSet, Prompt
from judges.models.reference_sets import ReferenceSet
from judges.models.releases import TextRelease
from judges.models.runs import Reading, Run, is_judging_run
from judges.models.scores import ScoreCard
from judges.models.vectors import TextVector
from judges.models.watches import DriftCheck, DriftWatch

__all__ = [
    "Alignment",
    "AlreadyUsed",
    "Attempt",
    "Bill",
    "BroughtLog",
    "Call",
    "ConnectionTest",
    "Draft",
    "DriftCheck",
    "DriftWatch",
    "Endpoint",
    "GeneratedText",
    "Generation",
    "Judge",
    "Parse",
    "PersonaSet",
    "PreferenceModel",
    "Price",
    "Prompt",
    "PromptChoice",
    "PromptProposal",
    "PromptTrial",
    "ProviderBatch",
    "Reading",
    "ReferenceSet",
    "Run",
    "ScoreCard",
    "Share",
    "Text",
    "TextRelease",
    "TextVector",
    "is_judging_run",
]
