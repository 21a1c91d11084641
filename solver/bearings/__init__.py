"""Friction inside joints: BISP, staggered projections, and what the inside of a bearing looks like."""
