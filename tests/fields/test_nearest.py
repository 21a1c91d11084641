"""Paint that goes straight in: layers stay layers, and each part counts for itself."""

import numpy as np
import pytest

from solver.fields.harmonic import harmonic_extension
from solver.fields.nearest import nearest_extension
from solver.meshing.grid import box_tets
from solver.meshing.volume import boundary_faces


def skin(nodes, tets):
    used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
    return nodes[used], corners.reshape(-1, 3)


def test_layers_around_a_bar_go_through_it():
    nodes, tets = box_tets((6, 6, 20), (0.6, 0.6, 2.0))
    vertices, triangles = skin(nodes, tets)

    def layer(x):
        return (np.floor(x[:, 2:] / 0.4 + 1e-9) % 2 == 0).astype(float)

    inner = (np.abs(nodes[:, :2] - 0.3) < 0.05).all(axis=1) & (np.abs(nodes[:, 2] - 1.0) < 0.65)
    straight = nearest_extension(nodes, tets, vertices, triangles, layer(vertices))
    assert np.array_equal(straight[inner], layer(nodes)[inner]) and inner.sum() > 10
    # what is as smooth as can be has lost them there
    smooth = harmonic_extension(nodes, tets, vertices, triangles, layer(vertices))
    assert np.abs(smooth[inner] - 0.5).max() < 0.35
    border = np.unique(boundary_faces(tets)[0])
    assert np.array_equal(straight[border], smooth[border])


def test_parts_count_alone():
    nodes, tets = box_tets((3, 3, 3), (1.0, 1.0, 1.0))
    both, both_tets = np.concatenate([nodes, nodes + [1.01, 0.0, 0.0]]), np.concatenate([tets, tets + len(nodes)])
    values = nearest_extension(both, both_tets, *skin(both, both_tets), (both[:, :1] > 1.005)[
        np.unique(boundary_faces(both_tets)[0])].astype(float))
    assert values[:len(nodes)].max() == pytest.approx(0.0) and values[len(nodes):].min() == pytest.approx(1.0)
