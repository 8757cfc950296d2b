"""The designer's and the coordinator's pages: studies with their seats, links, raters, and what was answered.

Nothing here shows where a story comes from or who a rater is; provenance and identity have pages of their own.
"""

from annotation.admin import fills, invitations, studies, work

__all__ = ["fills", "invitations", "studies", "work"]
