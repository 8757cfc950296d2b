"""An endpoint as all workers share it: whether it may be reached, what it bears, and whether it answers.

How a kind of provider is spoken to is a file of `judges/providers/`.
"""
