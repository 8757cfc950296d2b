"""Figures about filled texts: who filled the blanks, and how good they are."""
