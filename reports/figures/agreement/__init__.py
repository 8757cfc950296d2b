"""Figures about how far raters agree, and what of their answers varies."""
