"""All pairs of vertices of live sheets that face each other have a plane, and no others."""

import sys
from pathlib import Path

import numpy as np
import pytest

from solver.live import layers
from solver.live.layers import FACING, WITHIN, Layer, Layers, neighbours
from solver.meshing.normals import area_vectors

sys.path.append(str(Path(__file__).parents[1] / "cloth"))
from sheets import grid

H = 1 / 60
SIZES = ((9, 0.5, 0.02), (7, 0.4, 0.03))  #: cells, size [m] and thickness [m]


def crumpled(cells, size, seed):
    """Return a sheet in waves that nearly touch each other, and the velocities of its vertices."""
    vertices, triangles = grid(cells, cells, size, size)
    random = np.random.default_rng(seed)
    x = vertices * [1.0, 0.35, 1.0] + 0.02 * random.normal(size=vertices.shape)
    x[:, 2] += 0.03 * np.sin(30.0 * vertices[:, 1])
    return x, random.normal(size=x.shape), triangles


def sheets():
    made = [crumpled(cells, size, k) for k, (cells, size, _) in enumerate(SIZES)]
    layers_of_sheets = [Layer(neighbours(triangles, len(x)), triangles, len(x), size / cells, thickness, 0.4)
                        for (x, _, triangles), (cells, size, thickness) in zip(made, SIZES)]
    return layers_of_sheets, [x for x, _, _ in made], [v for _, v, _ in made]


def vertex_normals(x, triangles):
    normals = np.zeros_like(x)
    np.add.at(normals, triangles.ravel(), np.repeat(area_vectors(x, triangles), 3, axis=0))
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


def all_pairs(sheet, x, v, meet):
    """Return {(sheet, vertex, other sheet, vertex): normal from the second to the first} by looking at every pair."""
    pairs = {}
    normals = [vertex_normals(positions, layer.triangles) for layer, positions in zip(sheet, x)]
    edge, thickness = (max(getattr(layer, name) for layer, own in zip(sheet, meet) if any(own))
                       for name in ("edge", "thickness"))
    reach = np.hypot(FACING * edge, edge + 2.0 * thickness)  # they are fast: more is not looked for
    near = [set(layer.near.tolist()) for layer in sheet]
    for s, layer in enumerate(sheet):
        for t, other in enumerate(sheet):
            for i in range(layer.count):
                for j in range(i + 1 if s == t else 0, other.count):
                    if t < s or not meet[s][t] or s == t and i * layer.count + j in near[s]:
                        continue
                    along = np.sign(normals[s][i] @ normals[t][j]) or 1.0
                    normal = normals[t][j] + along * normals[s][i]
                    normal /= np.linalg.norm(normal)
                    away = x[s][i] - x[t][j]
                    normal *= np.sign(away @ normal)
                    height = away @ normal
                    gap = max(layer.thickness, other.thickness)
                    if np.linalg.norm(away) > reach:
                        continue
                    if (np.linalg.norm(away - height * normal) < FACING * min(layer.edge, other.edge)
                        and height + H * (v[s][i] - v[t][j]) @ normal < WITHIN * gap):
                        pairs[s, i, t, j] = normal
    return pairs


@pytest.mark.parametrize("meet", [[[True, True], [True, True]], [[False, True], [True, True]],
                                  [[True, False], [False, False]]])
def test_pairs_are_those_of_a_search_over_all(meet, monkeypatch):
    monkeypatch.setattr(layers, "PAIRS", 4)  # there are more, for which room is made
    sheet, x, v = sheets()
    expected = all_pairs(sheet, x, v, meet)
    planes = Layers(sheet, np.array(meet)).planes(x, v, H)
    assert len(expected) > 20
    assert sum(len(plane.nodes) for plane in planes) == 2 * len(expected)
    known = {(s, int(node)): [] for s, layer in enumerate(planes) for node in layer.nodes}
    for s, layer in enumerate(planes):
        for node, target, normal in zip(layer.nodes.tolist(), layer.targets, layer.normals):
            known[s, node].append((target, normal))
    for (s, i, t, j), normal in expected.items():
        middle = 0.5 * (x[s][i] + x[t][j]) + 0.5 * H * (v[s][i] + v[t][j])
        half = 0.5 * max(sheet[s].thickness, sheet[t].thickness)
        for vertex, sign in (((s, i), 1.0), ((t, j), -1.0)):
            assert any(np.allclose(target, middle + sign * half * normal, atol=1e-9)
                       and np.allclose(out, sign * normal, atol=1e-9) for target, out in known[vertex])


def test_sheets_that_touch_nothing_have_no_planes():
    sheet, x, v = sheets()
    planes = Layers(sheet, np.zeros((2, 2), bool)).planes(x, v, H)
    assert [len(plane.nodes) for plane in planes] == [0, 0]
