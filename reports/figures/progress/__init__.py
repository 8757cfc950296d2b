"""Figures about how far a study has come, what was changed, and what was asked once."""
