"""Figures about the sources of stories: how good they are, and how far apart."""
