"""Loops: rows are the rate of what they are off by; a four-bar linkage against its closed form."""

import numpy as np
import pytest
from plain_trees import chain, pose, random_tree, turn

from solver.constraints.loops import Ball, Hinge, Loops, PointOnLine, frames_in_bodies
from solver.constraints.projection import project_onto_rows
from solver.errors import StepFailed
from solver.rows.bilateral import Bilateral
from solver.rows.tables import DenseRows

ALONG_Y = turn(np.array([1.0, 0, 0]), -np.pi / 2)  # Z of the loop's frame along the hinges' y


def moved(E, twist, h):
    """Bodies after h seconds of constant twists in their own frames."""
    out = E.copy()
    for i, (w, v) in enumerate(zip(twist[:, :3], twist[:, 3:])):
        angle = np.linalg.norm(w) * h
        out[i] = E[i] @ pose(turn(w / np.linalg.norm(w), angle), v * h)
    return out


@pytest.mark.parametrize("kind, count", [(Ball, 3), (Hinge, 5), (PointOnLine, 2)])
@pytest.mark.parametrize("body", [(0, 3), (4, -1), (-1, 2)])
def test_a_row_is_the_rate_of_what_it_is_off_by(kind, count, body):
    rng = np.random.default_rng(5)
    tree = random_tree(rng, 5)
    E = tree.posture(rng.normal(size=5))[0]
    frames = [pose(turn(np.array([0.6, 0, 0.8]), a), rng.normal(size=3)) for a in (0.3, 1.2)]
    loops = Loops.of([kind], np.array([body]), frames[0], frames[1], ["knee"])
    assert len(loops) == count
    twist = rng.normal(size=(5, 6))
    rows, off = loops.rows(E)
    assert np.abs(off).min() > 1e-3  # open, where rows easily go wrong
    h = 1e-6
    rate = (loops.rows(moved(E, twist, h))[1] - loops.rows(moved(E, twist, -h))[1]) / (2 * h)
    assert rows.velocity(twist, np.zeros(5)) == pytest.approx(rate, rel=1e-7, abs=1e-7)


CRANK, COUPLER, ROCKER, BASE = 0.3, 0.8, 0.6, 0.9


def four_bar(kind=PointOnLine):
    """Crank and coupler from the origin, a rocker from (BASE, 0, 0), in the x-z plane; angles about −y."""
    tree = chain([CRANK, COUPLER, ROCKER], [0, 0, 0], parent=[-1, 0, -1], axis=(0, -1, 0))
    tree.at[2] = pose(None, (BASE, 0, 0)) @ tree.at[2]
    loops = Loops.of([kind], np.array([[1, 2]]), pose(ALONG_Y, (COUPLER / 2, 0, 0)), pose(ALONG_Y, (ROCKER / 2, 0, 0)),
                     ["rocker pin"])
    return tree, loops


def closed_form(crank):
    """q of the linkage: coupler's and rocker's angle from the triangle of the crank's end, (3,)."""
    end = CRANK * np.array([np.cos(crank), np.sin(crank)])
    to = np.array([BASE, 0.0]) - end
    d = np.hypot(*to)
    inner = np.arccos((COUPLER**2 + d**2 - ROCKER**2) / (2 * COUPLER * d))
    coupler = np.arctan2(to[1], to[0]) + inner
    top = end + COUPLER * np.array([np.cos(coupler), np.sin(coupler)])
    return np.array([crank, coupler - crank, np.arctan2(top[1], top[0] - BASE)])


def place_of(tree, loops):
    def place(q):
        E, X = tree.posture(q)
        rows, off = loops.rows(E)
        return off, rows.jacobian(tree.parent, tree.dof, X, tree.S), rows.target
    return place


@pytest.mark.parametrize("kind", [PointOnLine, Ball, Hinge])
def test_a_four_bar_linkage_closes_where_its_closed_form_stands(kind):
    tree, loops = four_bar(kind)
    for crank in np.linspace(0.2, 6.0, 7):
        exact = closed_form(crank)
        q = exact + np.array([0.0, 0.2, -0.15])
        # a heavy crank stays where it is
        A = tree.mass(tree.posture(q)[1]) + np.diag([1e12, 0, 0])
        q, u = project_onto_rows(q, np.array([1.0, 0, 0]), place_of(tree, loops), lambda b, A=A: np.linalg.solve(A, b))
        assert q == pytest.approx(exact, abs=1e-9)
        slope = (closed_form(crank + 1e-6) - closed_form(crank - 1e-6)) / 2e-6
        assert u == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_rows_that_the_plane_already_holds_are_named():
    tree, loops = four_bar(Hinge)
    q = closed_form(0.7)
    E, X = tree.posture(q)
    rows, _ = loops.rows(E)
    G = rows.jacobian(tree.parent, tree.dof, X, tree.S)
    A = tree.mass(X)
    redundant = Bilateral(DenseRows.equations(G), lambda b: np.linalg.solve(A, b)).redundant
    assert len(redundant) == 3 and loops.names_of(redundant) == ["rocker pin"]


def test_a_loop_that_cannot_close_fails_the_step():
    tree, loops = four_bar()
    far = Loops(loops.body, loops.frame_a, loops.frame_b @ pose(None, (5.0, 0, 0)), loops.names, loops.loop, loops.axis)
    q = closed_form(0.7)
    A = tree.mass(tree.posture(q)[1])
    with pytest.raises(StepFailed, match="stays open"):
        project_onto_rows(q, np.zeros(3), place_of(tree, far), lambda b: np.linalg.solve(A, b))


def test_frames_are_fixed_in_the_bodies_where_they_start():
    rng = np.random.default_rng(1)
    tree = random_tree(rng, 3)
    E = tree.posture(rng.normal(size=3))[0]
    world = np.array([pose(turn(np.array([0, 0, 1.0]), 0.4), rng.normal(size=3))] * 2)
    inside = frames_in_bodies(E, np.array([2, -1]), world)
    assert E[2] @ inside[0] == pytest.approx(world[0]) and inside[1] == pytest.approx(world[1])
