"""Bringing stories into a draft from a file: read, mapped column by column, checked; all of them or none."""
