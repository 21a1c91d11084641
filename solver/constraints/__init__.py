"""Rows on rates and points: loops, limits, drives, and the programs over them."""
