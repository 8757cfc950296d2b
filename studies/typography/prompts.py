"""Prompts told apart, however they were typed."""


def fold_prompt(prompt: str) -> str:
    """The prompt without regard to case and white space: two copies of it are one prompt."""
    return " ".join(prompt.casefold().split())
