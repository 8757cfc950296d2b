"""Reasons as they are read: which count, which are looked for, the passages they quote; and their coding by themes."""
