"""Cloth that one step would take into a collider that is not near at its start."""

from dataclasses import replace

import numpy as np
import pytest
from sheets import grid
from sliding_strips import block, fabric, start, steps_of

from benchmarks.sharp_cloth import solid
from solver.errors import StepFailed
from solver.parts.eol.eol_elements import Assembler
from solver.parts.eol.feature_contacts import FeatureContacts
from solver.parts.eol.obstacles import FeatureObstacles
from solver.parts.eol.tunnelling import detect_tunnelling, inside
from solver.sheet.sheet_mesh import SheetMesh

H, BOX = 1 / 96, FeatureObstacles([block((-1, -1, -1), (0, 1, 0))])
SHARES = np.array([[i, j, 4 - i - j] for i in range(5) for j in range(5 - i)]) / 4


def depth(mesh):
    """Return the depth of the deepest of places on triangles in the box x < 0, z < 0 [m]."""
    points = np.einsum("sk,fki->fsi", SHARES, mesh.x[mesh.faces])
    return float(np.minimum(-points[..., 0], -points[..., 2]).max())


def sheet(place, velocity, cells=3, side=0.12):
    """A square whose material (a, b) is at place(a, b), all of it at one velocity."""
    rest, faces = grid(cells, cells, side, side)
    x = np.array([place(a, b) for a, b in rest[:, :2]])
    mesh = SheetMesh.at_rest(x, rest[:, :2].copy(), faces)
    return replace(mesh, v=np.broadcast_to(np.array(velocity, float), x.shape).copy())


@pytest.mark.parametrize("speed", [0.4, 2.0])
def test_a_border_that_comes_in_over_an_edge_from_beside_it_stays_outside(speed):
    """Its nearest place is the edge, on which no vertex of it may sit: it comes along its whole length at once."""
    mesh = sheet(lambda a, b: (0.0015 + 0.7 * b, a - 0.06, 0.002 + 0.7 * b), (-speed, 0.0, -speed))
    steps = steps_of(mesh, BOX, fabric(1e-5), gravity=(0.0, 0.0, 0.0))
    cloth = start(mesh)
    for k in range(3):
        cloth = steps.step(cloth, k * H, H)
        assert depth(cloth.mesh) < 2e-5
    assert cloth.mesh.x[:, [0, 2]].max(axis=1).min() < 1e-3  # it came to the box


def test_what_forces_pull_towards_a_box_that_nothing_moved_to_before_stays_outside():
    """Pins on both sides of a box that is 4 cm wide go down at once: velocities at the step's start are zero."""
    things = FeatureObstacles([block((-0.02, -1, -1), (0.02, 1, 0))])
    mesh = sheet(lambda a, b: (a - 0.06, b - 0.06, 0.006), (0.0, 0.0, 0.0), cells=6)
    pinned = np.flatnonzero(np.abs(mesh.x[:, 0]) > 0.059)
    origin = mesh.x[pinned]
    steps = steps_of(mesh, things, fabric(1e-5), pins=origin)
    steps.pins = lambda time: origin - [0.0, 0.0, min(time / H, 1.0) * 0.04]
    cloth = start(mesh, pinned)
    for k in range(2):
        cloth = steps.step(cloth, k * H, H)
        points = np.einsum("sk,fki->fsi", SHARES, cloth.mesh.x[cloth.mesh.faces])
        assert np.minimum(0.02 - np.abs(points[..., 0]), -points[..., 2]).max() < 2e-5
    assert cloth.mesh.x[:, 2].min() < -0.03


@pytest.mark.parametrize("is_pinned", [lambda x: x[:, 0] < -0.085, lambda x: np.abs(x[:, 0]) < 0.012])
def test_pins_that_lead_into_a_box_are_refused_with_their_position(is_pinned):
    """They lie over its lid, or on both sides of its edge, and go down through it."""
    mesh = sheet(lambda a, b: (a - 0.09, b - 0.06, 0.003), (0.0, 0.0, 0.0), cells=6)
    pinned = np.flatnonzero(is_pinned(mesh.x))
    origin = mesh.x[pinned]
    steps = steps_of(mesh, BOX, fabric(1e-5), pins=origin)
    steps.pins = lambda time: origin - [0.0, 0.0, 0.4 * time]
    cloth = start(mesh, pinned)
    with pytest.raises(StepFailed, match=r"pins move the cloth into something that it collides with, near \((.*)\) "
                                         r"m") as refused:
        for k in range(5):
            cloth = steps.step(cloth, k * H, H)
    place = np.array([float(number) for number in str(refused.value).split("(")[1].split(")")[0].split(",")])
    assert np.linalg.norm(cloth.mesh.x[cloth.pin >= 0] - place, axis=1).min() < 0.02
    assert "Keep pinned vertices outside" in refused.value.remedy


def test_what_is_hardly_below_a_lid_is_not_asked_out_at_the_edges_below_it():
    """Cloth lies over a corner, below the lid by less than the tolerance: the upright edge there is far away."""
    box = FeatureObstacles([block((-1, -1, -1), (0, 0, 0))])
    mesh = sheet(lambda a, b: (a - 0.05, b - 0.055, -4e-6), (0.0, 0.0, 0.0))
    look = FeatureContacts.around(mesh, box, box.at(0.0, H), np.zeros(3), H)
    unknowns = Assembler([fabric(1e-5)], np.zeros(3)).assemble(mesh, H).unknowns
    more, deepest = detect_tunnelling(look, unknowns, np.zeros_like(mesh.v), 1e-5)
    assert deepest == 0.0 and not len(more.rows) and not len(more.spread)


def test_what_is_inside_is_found_for_faces_edges_and_corners():
    """Depths of a sheet through the top, over an edge, and on a corner; none for a sheet that lies on the box."""
    def depth_of(place, cells=3):
        mesh = sheet(place, (0.0, 0.0, 0.0), cells)
        now = BOX.at(0.0, H)
        return inside(FeatureContacts.around(mesh, BOX, now, np.zeros(3), 0.2), 1e-5)

    assert depth_of(lambda a, b: (a - 0.06, b, 0.0))[1] == 0.0
    through_top = depth_of(lambda a, b: (a - 0.2, b, -0.004))
    assert through_top[1] == pytest.approx(0.004)
    # whose vertices are all outside: across the edge between them it is inside
    over_edge = depth_of(lambda a, b: (a - 0.05, b, min(0.0, 0.01 - 0.3 * a)), 1)
    assert over_edge[1] > 1e-3 and len(over_edge[0])
    out, one = np.array([1, 1, 1]) / np.sqrt(3), np.array([1, -1, 0]) / np.sqrt(2)
    two = np.array([1, 1, -2]) / np.sqrt(6)
    on_corner = depth_of(lambda a, b: (0.0, 1.0, 0.0) - 0.002 * out + (a - 0.03) * one + (b - 0.05) * two, 1)
    assert on_corner[1] == pytest.approx(0.002)


@pytest.mark.parametrize("turned", [0.02, 0.006, 0.001])
def test_a_border_that_comes_in_nearly_along_an_edge_is_asked_out(turned):
    """Half of it is on either side of a blade, so no vertex comes in: what is between them does."""
    steep, y = np.tan(np.deg2rad(10.0)), np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])
    x = np.stack([np.tile([-0.2 * steep, 0.2 * steep, 0.0], 2), y, np.tile([-0.2, -0.2, 0.0], 2)], 1)
    blade = solid("Blade", x, np.array(
        [[0, 1, 2], [5, 4, 3], [1, 0, 3], [1, 3, 4], [2, 1, 4], [2, 4, 5], [0, 2, 5], [0, 5, 3]], np.int32))
    deep = 0.5 * turned * 0.06 / steep  # twice as low both ends would be on a side
    mesh = sheet(lambda a, b: (turned * (a - 0.06), a - 0.06, 1e-4 + b), (0.0, 0.0, -(deep + 1e-4) / H), cells=1)
    look = FeatureContacts.around(mesh, blade, blade.at(0.0, H), np.zeros(3), H)
    unknowns = Assembler([fabric(1e-5)], np.zeros(3)).assemble(mesh, H).unknowns
    more, deepest = detect_tunnelling(look, unknowns, mesh.v, 1e-5)
    assert deepest == pytest.approx(deep, rel=1e-3) and len(more.spread) == 1 and not len(more.rows)


def test_cloth_that_falls_onto_an_open_plane_lies_on_it_and_bends_at_its_borders():
    """Two triangles without anything behind them, 16 cm wide: cloth of 24 cm hangs over all four sides of it."""
    corners = np.array([[-0.08, -0.08, 0.0], [0.08, -0.08, 0.0], [0.08, 0.08, 0.0], [-0.08, 0.08, 0.0]])
    mesh = sheet(lambda a, b: (a - 0.125, b - 0.115, 0.003), (0.0, 0.0, 0.0), cells=6, side=0.24)
    steps = steps_of(mesh, solid("Plane", corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32)), fabric(1e-5))
    cloth = start(mesh)
    for k in range(8):
        cloth = steps.step(cloth, k * H, H)
        lies = np.abs(cloth.mesh.x[:, :2]).max(axis=1) < 0.07
        assert lies.any() and cloth.mesh.x[lies, 2].min() > -2e-5
    assert cloth.mesh.x[lies, 2].max() < 1e-3 and cloth.mesh.x[:, 2].min() < -0.01
    assert {*cloth.mesh.on.tolist()} == {-1, *range(8)}  # its four corners and four sides
