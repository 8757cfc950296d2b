"""Tables that come in from somebody's file: read, their columns given roles, their problems named by row, kept waiting.

Stories, answers and scores declare their roles, their checks, and what a row becomes.
"""
