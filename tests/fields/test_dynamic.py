"""Painted spots: one node each, at their weighted centre, of the part that carries them."""

import numpy as np
import pytest

from solver.fields.dynamic import patch_nodes, patches
from solver.meshing.grid import box_tets
from solver.meshing.volume import drop_unused_nodes, face_parts


def nodes_for(weights, vertices, triangles, corners, nodes, tets):
    part = np.zeros(len(nodes), dtype=np.int32)
    part[tets] = face_parts(tets)[1][:, None]
    return patch_nodes(patches(weights, triangles), weights, vertices, corners, nodes, part,
                       np.zeros(len(nodes), dtype=bool))


def test_the_centre_of_a_spot_is_that_of_its_weights():
    """A strip along a bar, painted fully at one end and barely over a half on the rest."""
    nodes, tets = box_tets((20, 1, 1), (2.0, 0.1, 0.1))
    strip = np.flatnonzero((nodes[:, 1] == 0.0) & (nodes[:, 2] == 0.0))
    vertices = nodes[strip]
    triangles = np.stack([np.arange(19), np.arange(1, 20), np.arange(2, 21)], axis=1)
    weights = np.where(vertices[:, 0] < 0.45, 1.0, 0.51)
    corners = np.repeat(strip[:, None], 4, axis=1)
    centre = float(np.average(vertices[:, 0], weights=weights))
    assert centre < 0.95 * vertices[:, 0].mean()
    node, = nodes_for(weights, vertices, triangles, corners, nodes, tets)
    assert nodes[node, 0] == pytest.approx(round(centre, 1)) and nodes[node, 0] < 0.95


def test_a_spot_takes_a_node_of_its_own_part_though_another_part_is_nearer():
    """A spot on a ring of four posts; a loose block stands in the middle, where its centre is."""
    post = box_tets((1, 1, 1), (0.1, 0.1, 0.1))
    frame = box_tets((4, 4, 1), (1.0, 1.0, 0.1))
    middle = (np.abs(frame[0][frame[1]].mean(axis=1)[:, :2] - 0.5) < 0.25).all(axis=1)
    ring, tets = drop_unused_nodes(frame[0], frame[1][~middle])
    nodes, tets = np.concatenate([ring, post[0] + [0.45, 0.45, 0.0]]), np.concatenate([tets, post[1] + len(ring)])
    used = np.arange(len(ring))
    vertices, corners = nodes[used], np.repeat(used[:, None], 4, axis=1)
    triangles = np.stack([np.arange(len(used) - 2), np.arange(1, len(used) - 1), np.arange(2, len(used))], axis=1)
    node, = nodes_for(np.ones(len(used)), vertices, triangles, corners, nodes, tets)
    away = np.linalg.norm(nodes[:, :2] - 0.5, axis=1)
    assert node in used and away[node] > 0.2 > away[len(ring):].min()
