"""Filters of the pages about judges."""
