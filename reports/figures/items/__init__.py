"""Figures about the items that were answered."""
