"""Figures about the novelty, surprise and value of story ideas."""
