"""Workers: what sends the calls of runs, one by one or in batches, and settles what comes back."""

from judges.workers.worker import CannotConnect, Shift, complete, stopping, work

__all__ = ["CannotConnect", "Shift", "complete", "stopping", "work"]
