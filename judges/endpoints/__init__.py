"""An endpoint as all workers share it: whether it may be reached, what it bears, and whether it answers."""
