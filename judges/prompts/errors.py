"""What can be wrong with a prompt."""


class InvalidPrompt(ValueError):
    """A prompt that cannot be used as written; the message says where and why."""
