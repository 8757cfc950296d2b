"""The laboratory: what is tried and made with models beside judging, on the engine of `judges`.

Texts that models write, by recipes; prompts chosen by agreement with people; models that learn preferences; texts as
vectors, how likely they are, and what they are near to; scores by other programs. It plans runs and lets the engine
work them off; the engine knows nothing of it, but for the pages' addresses, which both have in common. Its tables stand
in `judges.models`, whose label they bear.
"""
