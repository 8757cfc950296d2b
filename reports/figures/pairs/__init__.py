"""Figures about stories that were compared two at a time."""
