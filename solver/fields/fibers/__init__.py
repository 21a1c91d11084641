"""Directions of fibers: one file for each source, an entry of the catalogue's family "fiber_field"."""
