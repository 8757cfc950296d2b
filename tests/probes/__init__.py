"""What a new thing costs, row by row of the table in docs/architecture.md, shown on a copy of the tree.

A folder of `new/` is a row: its files as they would stand in the tree, and `probed.py`, the test that they are found.
"""
