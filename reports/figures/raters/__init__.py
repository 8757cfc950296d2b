"""Figures about raters: who they are, how long they took, what they read twice."""
