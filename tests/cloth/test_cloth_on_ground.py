"""Cloth with Sharp Edges on the ground: rows of its vertices on a plane that leans and moves, and whole steps of it."""

from dataclasses import replace

import numpy as np
import pytest
from sheets import grid
from sliding_strips import block, fabric, start, steps_of

from solver.contact.find.ground import Ground
from solver.coordinates.prescribed import Motion
from solver.parts.eol.feature_contacts import SEPARATION_SPEED, FeatureContacts
from solver.parts.eol.obstacles import FeatureObstacles
from solver.parts.eol.tunnelling import detect_tunnelling
from solver.parts.eol.unknowns import Unknowns
from solver.sheet.sheet_mesh import SheetMesh

POINT, NORMAL, THICK, MU, H = np.array([0.3, -0.2, 0.1]), np.array([0.3, -0.2, 0.9]), 2e-3, 0.4, 0.01
WAY = np.array([0.5, 0.1, 0.2])  # of the ground [m/s]
GRAVITY = np.array([0.0, 0.0, -9.81])


def over(gaps):
    """Return where a moving ground is, and a sheet along it whose vertices are so far above, (25,) [m]."""
    path = POINT + np.outer(np.arange(5.0) * 0.1, WAY)
    ground = Ground(POINT, NORMAL, MU, Motion(path, 0.1))
    rest, faces = grid(4, 4, 0.4, 0.4)
    n = ground.normal
    along = np.cross(n, [0.0, 1.0, 0.0])
    along /= np.linalg.norm(along)
    x = POINT + rest[:, :1] * along + rest[:, 1:2] * np.cross(n, along) + (np.asarray(gaps) + THICK)[:, None] * n
    things = FeatureObstacles([], ground, THICK)
    mesh = SheetMesh.at_rest(x, rest[:, :2], faces)
    return ground, mesh, things, FeatureContacts.around(mesh, things, things.at(0.0, H), GRAVITY, H)


def unknowns(mesh):
    return Unknowns(np.zeros(len(mesh.x), bool), mesh.faces[:, [0, 1, 2, 2]])


def test_what_comes_to_the_ground_may_close_its_gap_in_a_step_and_no_more():
    gaps = np.where(np.arange(25) % 3 == 0, 1.0, np.linspace(-3e-6, 1e-3, 25))
    ground, mesh, _, look = over(gaps)
    found = look.rows(unknowns(mesh))
    assert sorted(found.rows.vertex) == np.flatnonzero(gaps < 0.5).tolist()
    assert not len(found.spread)
    assert found.rows.factor[:, :3] == pytest.approx(np.tile(ground.normal, (len(found.rows), 1)), abs=1e-12)
    least = np.minimum(-gaps[found.rows.vertex] / H, SEPARATION_SPEED) + WAY @ ground.normal
    assert found.rows.target == pytest.approx(least, abs=1e-10)
    assert (found.vertex_contacts.friction == MU).all() and found.vertex_contacts.velocity == pytest.approx(
        np.tile(WAY, (len(found.rows), 1)))


def test_what_a_step_takes_into_the_ground_is_asked_to_stay_out_by_as_much():
    _, mesh, things, look = over(np.full(25, 5e-4))
    n = things.ground.normal
    v = np.tile(WAY, (25, 1))
    v[7] -= 0.2 * n  # by 1.5 mm
    v[8] -= 0.04 * n  # hardly to it
    more, deepest = detect_tunnelling(look, unknowns(mesh), v, 1e-5)
    assert more.rows.vertex.tolist() == [7] and deepest == pytest.approx(1.5e-3, abs=1e-9)
    # what parts as fast ends the step on the ground
    assert more.rows.target == pytest.approx([n @ WAY - 5e-4 / H], abs=1e-9)


def test_it_lies_on_the_ground_as_on_a_lid_and_goes_with_a_belt():
    rest, faces = grid(5, 5, 0.4, 0.4)
    mesh = SheetMesh.at_rest(rest + [-0.2, -0.25, 2e-3 + 0.02 * rest[:, 0].max()], rest[:, :2].copy(), faces)
    mesh = replace(mesh, x=mesh.x + np.outer(0.02 * rest[:, 0], [0.0, 0.0, 1.0]))
    ends = []
    up = np.array([0.0, 0.0, 1.0])
    for things in (FeatureObstacles([], Ground(np.zeros(3), up, MU)),
                   FeatureObstacles([block((-9.0, -9.0, -9.0), (9.0, 9.0, 0.0), MU)])):
        steps, cloth = steps_of(mesh, things, fabric(damping=2e-3)), start(mesh)
        for k in range(16):
            cloth = steps.step(cloth, k / 96, 1 / 96)
        ends.append(cloth.mesh.x)
    assert np.abs(ends[0] - ends[1]).max() < 1e-8 and np.abs(ends[0][:, 2]).max() < 1e-5

    belt = Ground(np.zeros(3), up, MU, Motion(np.outer(np.arange(60.0), [0.3 / 96, 0.0, 0.0]), 1 / 96))
    steps, cloth = steps_of(mesh, FeatureObstacles([], belt), fabric(damping=2e-3)), start(mesh)
    for k in range(40):
        cloth = steps.step(cloth, k / 96, 1 / 96)
    # no sooner than friction allows, and then as fast as the belt
    assert cloth.mesh.v == pytest.approx(np.tile([0.3, 0.0, 0.0], (len(rest), 1)), abs=1e-3)
    assert (cloth.mesh.x[:, 0] - mesh.x[:, 0]).mean() <= 0.3 * 40 / 96 - 0.3**2 / (2 * MU * 9.81)
