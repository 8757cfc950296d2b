"""Figures about judges, beside people and among themselves."""
