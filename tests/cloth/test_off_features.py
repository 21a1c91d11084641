"""Vertices leave features: cloth that lifts off, ends of edges and corners, and how far sliding may go."""

from dataclasses import replace

import numpy as np
import pytest
from conformed_sheets import THICKNESS, assert_conforms, conformed, hanging
from sheets import grid
from sheets_eol import world_velocities
from sliding_sheets import SIDE, Slid, box_features, flat
from sound_sheets import smallest_angle

from solver.sheet.adapt import adapt
from solver.sheet.conform import conform
from solver.sheet.limits import RemeshLimits
from solver.sheet.sheet_mesh import SheetMesh
from solver.sheet.sizing import Sizing
from solver.sheet.tracking import limit_slide


def test_who_lifts_off_keeps_the_velocity_of_the_material():
    mesh, features = hanging()
    mesh = conformed(mesh, features).mesh
    slide = np.where(mesh.on[:, None] >= 0, [0.7, 0.0], 0.0)
    up = replace(mesh, slide=slide, v=np.broadcast_to([0.1, 0.3, 0.9], mesh.x.shape).copy())
    free = np.zeros(len(mesh.x), dtype=bool)
    free[np.flatnonzero(mesh.on >= 0)[2:6]] = True
    found = conformed(up, features, h=0.01, free=free)
    assert np.array_equal(np.sort(found.released), np.flatnonzero(free)) and np.all(found.mesh.on[free] < 0)
    assert np.allclose(found.mesh.v[free], world_velocities(up)[free], atol=1e-12) and not found.mesh.slide[free].any()
    assert np.array_equal(found.mesh.v[~free], up.v[~free])


def test_cloth_off_by_more_than_the_thickness_has_lifted_off():
    mesh, features = hanging()
    mesh = conformed(mesh, features).mesh
    lifted = replace(mesh, x=mesh.x + [0.002, 0.0, 0.002], v=np.broadcast_to([0.1, 0.0, 0.1], mesh.x.shape).copy())
    assert not np.any(conformed(lifted, features).mesh.on >= 0)
    pressed = replace(mesh, x=mesh.x - [0.001, 0.0, 0.001])
    assert_conforms(conformed(pressed, features).mesh, features)


def test_a_vertex_that_runs_over_the_end_of_an_edge_becomes_the_corners():
    features = box_features()
    mesh = conformed(flat(8, middle=(1.0, 0.38), turn=0.1)).mesh
    edge = np.flatnonzero((mesh.on >= 8) & ~mesh.border)
    along = features.edges[mesh.on[edge] - 8]
    last = edge[np.argmax(mesh.x[edge, 1])]
    assert not np.any((mesh.on >= 0) & (mesh.on < 8) & (mesh.x[:, 1] == 1.0)) and len(along)
    moved = replace(mesh, x=mesh.x + [0.0, 1.003 - mesh.x[last, 1], 0.0])
    found = conformed(moved)
    corner = np.flatnonzero(found.mesh.on == 7)
    assert len(corner) == 1 and np.array_equal(found.mesh.x[corner[0]], [1.0, 1.0, 1.0])
    assert found.was[corner[0]] == last
    # the cloth's border goes along the other edge there, at six degrees, and is let be
    assert_conforms(found.mesh, features, unjoined=1)


def test_one_that_runs_into_a_corner_that_has_a_vertex_becomes_one_with_it():
    features = box_features()
    mesh = conformed(flat(16)).mesh
    corner = int(np.flatnonzero((mesh.on >= 0) & (mesh.on < 8))[0])
    near = [i for i in mesh.edges[(mesh.edges == corner).any(axis=1)].sum(axis=1) - corner if mesh.on[i] >= 8]
    first = min(near, key=lambda i: np.linalg.norm(mesh.x[i] - mesh.x[corner]))
    x, X = mesh.x.copy(), mesh.material.copy()
    way = (mesh.x[corner] - mesh.x[first]) / np.linalg.norm(mesh.x[corner] - mesh.x[first])
    x[first] = mesh.x[corner] + 0.001 * way
    X[first] += 0.9 * (X[corner] - X[first])
    found = conformed(replace(mesh, x=x, material=X))
    assert first not in found.was and np.array_equal(found.mesh.x[found.mesh.on == mesh.on[corner]], [[1, 1, 1]])
    assert_conforms(found.mesh, features)


def test_a_border_that_goes_over_an_edge_at_a_small_angle_is_let_be():
    """Ten degrees and no more between the border and the edge: thin triangles would stand there."""
    features = box_features((0, -2, 0), (1, 3, 1))
    steep = conformed(flat(12, middle=(1.0, 0.5), turn=0.6), features).mesh
    assert (steep.border & (steep.on >= 0)).sum() == 2
    shallow = conformed(flat(12, middle=(1.0 - 0.5 * SIDE, 0.5), turn=np.deg2rad(5.0)), features).mesh
    there = shallow.material[shallow.on >= 0]
    right = np.isclose(there[:, 0], SIDE) & (there[:, 1] > 0.0) & (there[:, 1] < SIDE)
    assert not right.any() and smallest_angle(shallow.material, shallow.faces) > 2.0


def test_a_vertex_that_reaches_the_border_is_free_again():
    features = box_features((-5, -2, 0), (1, 3, 1))
    mesh, slid = flat(12, middle=(0.95, 0.5), turn=0.0), Slid(features, (0.95, 0.5), 0.0)
    slid.velocity = np.array([-1.0, 0.0])
    limits, sizing, seen = RemeshLimits.of(mesh, THICKNESS), Sizing(0.05, 0.13, speed=1e3), 0
    for _ in range(60):
        mesh = slid.with_velocities(mesh)
        mesh = adapt(conform(mesh, features, limits, 0.01).mesh, sizing, 8, features.edges).mesh
        seen = max(seen, int((mesh.on >= 0).sum()))
        assert smallest_angle(mesh.material, mesh.faces) > 2.0
        mesh = slid.moved(mesh, 0.01)
    assert seen >= 13 and not np.any(conform(mesh, features, limits).mesh.on >= 0)
    assert mesh.areas.sum() == pytest.approx(SIDE**2, abs=1e-12)


def test_how_far_sliding_may_go():
    mesh, features = hanging()
    mesh = conformed(mesh, features).mesh
    slide = np.where(mesh.on[:, None] >= 0, [1.0, 0.0], 0.0)
    moving = replace(mesh, slide=slide)
    # the next row of vertices is a tenth of a metre away
    assert limit_slide(moving, 0.01) == 1.0
    assert limit_slide(moving, 1.0) == pytest.approx(0.08, rel=1e-9)
    later = replace(moving, material=moving.material + 0.08 * slide)
    assert later.areas.min() == pytest.approx(0.2 * 0.005, rel=1e-9)


def test_how_far_sliding_may_go_before_a_triangle_is_thin():
    """By closed form, and for many triangles at once by their angles: none is thinner than it may, one just so."""
    rest, faces = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]]), np.array([[0, 1, 2]], np.int32)
    mesh = SheetMesh.at_rest(np.pad(rest, ((0, 0), (0, 1))), rest, faces)
    falls = replace(mesh, slide=np.array([[0.0, 0.0], [0.0, 0.0], [0.0, -1.0]]))
    thinnest = np.tan(np.deg2rad(12.0))  # that is where the tip is 0.5 tan 12° high, and area would let it fall to 0.1
    assert limit_slide(falls, 1.0, thinnest) == pytest.approx(0.5 - 0.5 * thinnest, rel=1e-12)
    assert limit_slide(falls, 1.0) == pytest.approx(0.4, rel=1e-12)
    thin = replace(falls, material=np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.05]]))
    assert limit_slide(thin, 1.0, thinnest) == pytest.approx(0.1 * 0.05, rel=1e-12)
    rest, faces = grid(6, 6, 1.0, 1.0)
    rng = np.random.default_rng(1)
    mesh = SheetMesh.at_rest(rest, rest[:, :2] + rng.uniform(-0.03, 0.03, (len(rest), 2)), faces)
    for speed in (0.5, 2.0, 8.0):
        slides = replace(mesh, slide=speed * rng.normal(size=(len(rest), 2)))
        share = limit_slide(slides, 0.1, thinnest)
        later = replace(slides, material=slides.material + share * 0.1 * slides.slide)
        assert 0.0 < share < 1.0 and smallest_angle(later.material, later.faces) >= 12.0 - 1e-9
        further = replace(slides, material=slides.material + 1.01 * share * 0.1 * slides.slide)
        assert smallest_angle(further.material, further.faces) < 12.0
