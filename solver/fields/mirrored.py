"""Sets of nodes that mirror each other, where a body and its modal motion are symmetric about planes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.spatial import cKDTree

from ..state import Index, Mask, Vec

NEAR = 1.5  #: in edges: largest distance of a node from the image of another, for halves with different meshes
ALIKE = 0.1  #: of all motion: largest difference between nodes and their images
DISTINCT = 0.02  #: of the larger: least difference of moments of inertia with separate axes
SQUARE = 1.0e-6  #: largest cosine between two axes at right angles


def images(nodes: Vec, mass: Vec, motion: Vec, edge: float) -> list[Index]:
    """Return for each combination of mirrors the nodes nearest to the images of each node, (g, k) each.

    nodes: (k, 3) [m]. mass: (k,) [kg]. motion: of nodes in each mode, (k, 3, s). edge: mean edge length [m]. Mirrors
    are orthogonal planes through the centre of mass, normal to axes of inertia or of the world, for which images of
    nodes exist and move as much as the nodes. All mirrors combined come first, then fewer, none at last.
    """
    tree, mass_fraction = cKDTree(nodes), mass / mass.sum()
    arms = nodes - mass_fraction @ nodes
    much = np.sqrt(np.einsum("kcs,kcs->k", motion, motion))
    mirrors = []
    for axis in _axes(arms, mass_fraction):
        away, twin = tree.query(nodes - 2.0 * np.outer(arms @ axis, axis))
        if (away.max() <= NEAR * edge
                and mass_fraction @ (much - much[twin]) ** 2 <= ALIKE**2 * (mass_fraction @ much**2)):
            mirrors.append((round(float(away.mean()) / edge, 6), axis, twin))

    taken: list[tuple[Vec, Index]] = []
    for _, axis, twin in sorted(mirrors, key=lambda mirror: mirror[0]):  # the clearest first
        if all(abs(float(axis @ other)) <= SQUARE for other, _ in taken):
            taken.append((axis, twin))
    out = []
    for count in range(len(taken), -1, -1):
        for some in combinations(taken, count):
            images_of = np.arange(len(nodes))[None]
            for _, twin in some:
                images_of = np.concatenate([images_of, images_of[:, twin]])
            out.append(images_of)
    return out


def _axes(arms: Vec, mass_fraction: Vec) -> Vec:
    """Return the axes of the world, then those of inertia whose moments differ, (a, 3)."""
    moments, axes = np.linalg.eigh(np.einsum("k,ka,kb->ab", mass_fraction, arms, arms))
    is_distinct = np.diff(moments) > DISTINCT * moments[1:]
    own = np.concatenate([[True], is_distinct]) & np.concatenate([is_distinct, [True]])
    return np.concatenate([np.eye(3), axes.T[own]])


def find_mirrored_sets(nodes: Vec, twins: Index, usable: Mask, spacing: float, most: int) -> Index:
    """Return sets of usable nodes that mirror each other, (c, g), with at most `most` different nodes in each.

    nodes: (k, 3) [m]. twins: images of each node, (g, k). usable: (k,). spacing: least distance of different nodes of a
    set [m]. A node that is its own image appears in its set more than once.
    """
    own = np.unique(np.sort(twins.T[usable & usable[twins].all(axis=0)], axis=1), axis=0)
    away = np.linalg.norm(nodes[own][:, :, None] - nodes[own][:, None], axis=3)
    same = own[:, :, None] == own[:, None]
    different = 1 + (np.diff(own, axis=1) > 0).sum(axis=1)
    sets: Index = own[((away >= spacing) | same).all(axis=(1, 2)) & (different <= most)]
    return sets
