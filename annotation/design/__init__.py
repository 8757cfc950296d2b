"""Before anyone arrives: the seats of a study, their orders of stories, and how balanced they are."""

from annotation.design import seats
from annotation.design.seats import judge_seat, orders, plan, williams

__all__ = ["judge_seat", "orders", "plan", "seats", "williams"]
