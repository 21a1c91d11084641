"""Directions of fibers: one module for each source, an entry of the catalogue's family "fiber_field"."""
