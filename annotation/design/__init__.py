"""Before anyone arrives: the seats of a study, their orders of stories and of groups, and how balanced they are."""

from annotation.design import seats
from annotation.design.seats import add_judge_seats, draw_orders, draw_rows, plan, williams_squares

__all__ = ["add_judge_seats", "draw_orders", "draw_rows", "plan", "seats", "williams_squares"]
