"""The designer's pages that need seats, raters or the raters' own pages; the others are in `studies.views`."""
