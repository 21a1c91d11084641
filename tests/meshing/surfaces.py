"""Surfaces for the meshers' tests: boxes, globes, hands and joins of them."""

from pathlib import Path

import numpy as np
from solids import globe as globe

from solver.meshing.grid import box_tets
from solver.meshing.volume import boundary_faces

DATA = Path(__file__).resolve().parents[1] / "data"


def box(size=(1.0, 1.0, 1.0), origin=(0.0, 0.0, 0.0), cells=(2, 2, 2)):
    """A box's vertices and outward triangles."""
    nodes, tets = box_tets(cells, size, origin)
    used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
    return nodes[used], corners.reshape(-1, 3).astype(np.int32)


def joined(*surfaces):
    """Several surfaces as one."""
    starts = np.cumsum([0, *(len(v) for v, _ in surfaces)])
    return (np.concatenate([v for v, _ in surfaces]),
            np.concatenate([t + start for (_, t), start in zip(surfaces, starts)]))


def hand(gap, width=0.03, length=0.15, thick=0.04, palm=0.1):
    """Five fingers that hang down from a palm, exactly `gap` apart: boxes on an uneven grid."""
    xs, solid = [0.0], []
    for finger in range(5):
        xs += list(xs[-1] + width * np.arange(1, 5) / 4)
        solid += [True] * 4
        if finger < 4:
            xs.append(xs[-1] + gap)
            solid.append(False)
    ys = np.linspace(-thick / 2, thick / 2, 5)
    zs = np.r_[np.linspace(-length, 0, 16), np.linspace(0, palm, 9)[1:]]
    nodes, tets = box_tets((len(xs) - 1, 4, len(zs) - 1), (1.0, 1.0, 1.0))
    i, j, k = np.unravel_index(np.arange(len(nodes)), (len(xs), 5, len(zs)))
    nodes = np.stack([np.array(xs)[i] - xs[-1] / 2, ys[j], zs[k]], axis=1)
    full = np.zeros((len(xs) - 1, 4, len(zs) - 1), bool)
    full[:, :, 15:] = True
    full[solid, :, :15] = True
    used, corners = np.unique(boundary_faces(tets[np.repeat(full.ravel(), 6)])[0], return_inverse=True)
    return nodes[used], corners.reshape(-1, 3).astype(np.int32)


def mouth(gap, size=0.2, deep=0.06, wide=0.1):
    """A head with closed lips: a block with a slit of this height [m] in its front, in the middle of its width."""
    half, side = size / 2, wide / 2
    xs = np.r_[np.linspace(-half, -side, 4), np.linspace(-side, side, 9)[1:], np.linspace(side, half, 4)[1:]]
    ys = np.r_[np.linspace(0, deep, 6), np.linspace(deep, size, 9)[1:]]
    zs = np.r_[np.linspace(-half, -gap / 2, 8), np.linspace(gap / 2, half, 8)]
    cells = (len(xs) - 1, len(ys) - 1, len(zs) - 1)
    nodes, tets = box_tets(cells, (1.0, 1.0, 1.0))
    i, j, k = np.unravel_index(np.arange(len(nodes)), (len(xs), len(ys), len(zs)))
    full = np.ones(cells, bool)
    full[3:-3, :5, 7] = False
    used, corners = np.unique(boundary_faces(tets[np.repeat(full.ravel(), 6)])[0], return_inverse=True)
    return np.stack([xs[i], ys[j], zs[k]], axis=1)[used], corners.reshape(-1, 3).astype(np.int32)
