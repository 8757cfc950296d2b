"""What the templates of the raters' pages show, as plain data."""
