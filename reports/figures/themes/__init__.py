"""Figures about what reasons and explanations say."""
