"""Cascade cloze: a text with numbered blanks in sections, what each section must achieve, and which hang on which.

document     the document as a person writes it, read strictly
skeleton     its running text: markers and paragraphs
text         the text with its blanks filled, and laid out for a page
alignment    a whole story taken apart again into its fills
cascade      what hangs on what: downstream, what to check again, where somebody stopped
compilation  the document as two instruments, one to fill it and one to judge what was filled
graph        a picture of the cascade

The method is that of QUIET (Zou & Xu, 2026, arXiv:2605.25955). No models and no pages here; what a protocol
lets those see and do who fill it is `studies/layouts/cloze.py`.
"""
