"""Workers: what sends the calls of runs, one by one or in batches, and settles what comes back."""

from judges.workers.worker import CannotConnect, complete, stopping, work

__all__ = ["CannotConnect", "complete", "stopping", "work"]
