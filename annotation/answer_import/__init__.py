"""Answers that were given elsewhere, from anybody's file: mapped column by column, looked at, brought in whole."""
