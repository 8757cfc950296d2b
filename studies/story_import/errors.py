"""What keeps stories from coming in, in sentences for whoever brings them."""


class UnreadableFile(ValueError):
    """A file cannot be read as stories; the message says why and what would do."""


class ImportRefused(ValueError):
    """Nothing came in; the message says why and what would do."""
