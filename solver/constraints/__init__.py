"""Constraints on rates and points as rows: loops, limits and drives, and the programs that solve them."""
