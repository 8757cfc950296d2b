"""What the second formulas are held against."""

from tests.reports.packed import pack

__all__ = ["pack"]
