"""Friction inside joints: BISP, staggered projections, and the geometry of bearings."""
