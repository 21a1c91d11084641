"""Mechanisms: joint rates as unknowns, on a tree of bodies."""
