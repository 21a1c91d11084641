"""Tetrahedra come apart at faces: which nodes are doubled, what still hangs together, where dynamic nodes go."""

import numpy as np
import pytest
from small_jobs import box_tets

from solver.fields.build import Fields
from solver.meshing.volume import boundary_faces, face_parts
from solver.reshape.cuts.interface import Shape
from solver.reshape.split import fields_after, separate

NODES, TETS = box_tets((6, 2, 3), (0.6, 0.2, 0.3))


def shape_of(nodes, tets):
    return Shape(nodes, tets, np.arange(len(nodes), dtype=np.int32))


def split(nodes, tets, is_apart):
    """is_apart: of both middles of each inner face, (k, 3) and (k, 3)."""
    shape = shape_of(nodes, tets)
    middles = shape.centres[shape.inner // 4]
    return separate(tets, shape.inner, is_apart(middles[:, 0], middles[:, 1]))


def across(x, axis=0):
    return lambda a, b: (a[:, axis] < x) != (b[:, axis] < x)


def test_a_plane_of_nodes_is_doubled_and_nothing_else():
    tets, source = split(NODES, TETS, across(0.3))
    in_plane = np.flatnonzero(np.abs(NODES[:, 0] - 0.3) < 1e-9)
    assert len(in_plane) == 12 and sorted(source[len(NODES):]) == sorted(in_plane)
    assert np.array_equal(source[:len(NODES)], np.arange(len(NODES)))
    assert np.array_equal(source[tets], TETS)
    count, part = face_parts(tets)
    assert count == 2 and not np.intersect1d(tets[part == 0], tets[part == 1]).size
    assert len(boundary_faces(tets)[0]) == len(boundary_faces(TETS)[0]) + 2 * 2 * 6


def test_without_a_cut_nothing_changes():
    tets, source = split(NODES, TETS, lambda a, b: np.zeros(len(a), dtype=bool))
    assert np.array_equal(tets, TETS) and np.array_equal(source, np.arange(len(NODES)))


def test_a_cut_that_ends_inside_leaves_the_nodes_at_its_end_whole():
    tets, source = split(NODES, TETS, lambda a, b: across(0.3)(a, b) & (a[:, 2] > 0.1) & (b[:, 2] > 0.1))
    doubled = NODES[source[len(NODES):]]
    assert np.abs(doubled[:, 0] - 0.3).max() < 1e-9 and doubled[:, 2].min() > 0.1 + 1e-9 and len(doubled) == 6
    assert face_parts(tets)[0] == 1


def test_three_sides_of_a_node_get_three_nodes():
    both = lambda a, b: across(0.3)(a, b) | (across(0.1, axis=1)(a, b) & (np.minimum(a, b)[:, 0] > 0.3))  # noqa: E731
    tets, source = split(NODES, TETS, both)
    line = np.flatnonzero((np.abs(NODES[:, 0] - 0.3) < 1e-9) & (np.abs(NODES[:, 1] - 0.1) < 1e-9))
    assert np.array_equal(np.bincount(source)[line], [3] * len(line))
    assert face_parts(tets)[0] == 3


def test_parts_that_share_a_node_by_the_artists_wish_stay_joined():
    """Two boxes hang together at a line of nodes; a cut elsewhere leaves them so, one through the line does not."""
    unique, where = np.unique(np.round(np.concatenate([NODES, NODES + [0.6, 0.2, 0.0]]), 9), axis=0,
                              return_inverse=True)
    tets = where.reshape(-1)[np.concatenate([TETS, TETS + len(NODES)])].astype(np.int32)
    shared = np.intersect1d(tets[:len(TETS)], tets[len(TETS):])
    assert len(shared) == 4
    after, source = split(unique, tets, across(0.3))
    assert np.array_equal(np.intersect1d(after[:len(TETS)], after[len(TETS):]), shared)
    after, source = split(unique, tets, lambda a, b: across(0.15, axis=2)(a, b))
    assert len(np.intersect1d(source[after[:len(TETS)]], source[after[len(TETS):]])) == 4


@pytest.mark.parametrize("x,side", [(0.2, 1), (0.4, 0)])
def test_a_dynamic_node_in_the_cut_stays_with_the_larger_part(x, side):
    tets, source = split(NODES, TETS, across(x))
    middle = int(np.argmin(np.linalg.norm(NODES - [x, 0.1, 0.1], axis=1)))
    pinned = np.flatnonzero(NODES[:, 0] > x - 1e-9).astype(np.int32)
    far = int(np.argmin(np.linalg.norm(NODES, axis=1)))
    fields = Fields({}, np.zeros(0), np.array([far, middle], np.int32), pinned, {}, None,
                    np.arange(2 * len(pinned) * 3.0).reshape(2, -1, 3), ())
    after = fields_after(fields, NODES[source], tets, source, np.zeros((len(source), 3)))
    dynamic, pinned_after, motion = after.dynamic, after.pinned, after.motion
    assert len(dynamic) == 2 and np.array_equal(np.sort(source[dynamic]), np.sort([far, middle]))
    at = dynamic[source[dynamic] == middle][0]
    centre = NODES[source[tets[(tets == at).any(axis=1)]]].mean(axis=(0, 1))
    assert (centre[0] > x) == bool(side)
    # every copy of a pinned node is pinned and moves as it did
    assert len(pinned_after) == len(pinned) + 12
    assert np.array_equal(motion, fields.motion[:, np.searchsorted(pinned, source[pinned_after])])
