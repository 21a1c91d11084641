"""Mechanisms as a part: the unknowns are joint rates, on a tree of bodies."""
