"""What came back from calls: how each ends, what it says and is recorded, read again, used again or erased."""

from judges.settlement.ended_attempts import Ended, settle

__all__ = ["Ended", "settle"]
