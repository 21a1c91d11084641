"""Unknowns that one factor answers for."""
