"""Sums over a table of stencils."""

import numpy as np


def total(table, count):
    """Forces on so many nodes, (count, 3)."""
    force = np.zeros((count, 3))
    table.add_forces(force)
    return force
