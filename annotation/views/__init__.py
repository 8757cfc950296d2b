"""The pages: for raters, and for designers."""
