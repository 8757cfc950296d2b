"""The raters' pages: arriving, the reading desk, finishing."""
