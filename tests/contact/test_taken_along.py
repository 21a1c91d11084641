"""A body that is animated as one takes along others before it, and makes no factor for that."""

from dataclasses import replace

import numpy as np
import pytest
from touching import box, contact_job, crosses, distance, hollow, obstacle, sheet, soft, stepped
from worlds import nodes_of

from solver.assembly.edges import Edges
from solver.job.load import load
from solver.nonlinear.intersection_free import intersection_free_start
from solver.world.solved_end import SolvedEnd
from solver.world.taken_along import MovedAsOne

H = 1 / 48
QUICK = {"integrator": {"kind": "sdirk2"}, "stage_solver": {"kind": "quick"}}


def pushed(folder, *others, way=(0.03, 0.0, 0.0), near=0.01, turn=0.0, pinned=None, bends=False, cells=2):
    """A wall that goes so far in a step of 1/48 s, turning [rad], towards a row of two boxes without weight."""
    arrays = {}
    vertices, triangles = hollow((0.05, 0.4, 0.4), (-0.05 - near, -0.1, -0.1))
    motion = []
    for k in range(3):
        angle = k * turn
        c, s = np.cos(angle), np.sin(angle)
        motion.append(vertices @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]).T + k * np.asarray(way))
        if bends:
            motion[-1][vertices[:, 2] > 0.0] *= [1.0 + k, 1.0, 1.0]
            motion[-1][0] += [0.0, 0.01 * k, 0.0]
    bodies = [soft("Near", *box((cells,) * 3, (0.2, 0.2, 0.2)), arrays, pinned=pinned),
              soft("Far", *box(size=(0.2, 0.2, 0.2), at=(0.21, 0.01, 0.01)), arrays)]
    wall = obstacle("Wall", vertices, triangles, arrays, np.array(motion))
    job = contact_job(folder, bodies, [wall, *(obstacle(f"Other{k}", *mesh, arrays) for k, mesh in enumerate(others))],
                      arrays, step=H, end=2, gravity=[0.0, 0.0, 0.0], **QUICK)
    return nodes_of(load(job))


def ends(part, h=H):
    """Positions of all nodes before a step and, prescribed ones moved, after it."""
    q = part.rest[part.coordinates.free].ravel()
    return part.coordinates.positions(q, 0.0), part.coordinates.positions(q, h)


@pytest.mark.parametrize("turn", [0.0, 0.1])
def test_what_is_before_it_goes_along_and_nothing_else_moves(tmp_path, turn):
    part = pushed(tmp_path / "job", turn=turn)
    at_start, end = ends(part)
    x = part.carry_along(at_start, end)
    assert part.largest_step(at_start, x) == 1.0
    near, far = (x[body.nodes] - at_start[body.nodes] for body in part.bodies_in_world)
    assert np.abs(near).max() > 0.029 and np.abs(far).max() > 0.029  # the second one is hit by the first
    if not turn:
        assert np.allclose(near, [0.03, 0.0, 0.0]) and np.allclose(far, [0.03, 0.0, 0.0])
    # away from them it moves alone
    alone = pushed(tmp_path / "away", way=(-0.03, 0.0, 0.0))
    at_start, end = ends(alone)
    x = alone.carry_along(at_start, end)
    assert np.array_equal(x[alone.coordinates.is_free], at_start[alone.coordinates.is_free])
    assert not np.array_equal(x, at_start)


def test_what_has_no_room_bends_or_is_pinned_is_not_taken_along(tmp_path):
    behind = hollow((0.05, 0.4, 0.4), (0.42, -0.1, -0.1))
    between = pushed(tmp_path / "between", behind)
    pinned = pushed(tmp_path / "held", pinned=[26])
    bent = pushed(tmp_path / "bent", bends=True)
    for part in (between, pinned, bent):
        assert part.carry_along(*ends(part)) is None


def test_pins_take_their_own_body_along_and_what_that_meets(tmp_path):
    arrays = {}
    nodes, tets = box(size=(0.2, 0.2, 0.2))
    arrays["motion"] = nodes[None, :3] + np.arange(3)[:, None, None] * [0.03, 0.0, 0.0]
    body = soft("Held", nodes, tets, arrays, pinned=np.arange(3))
    body["pin"]["node_motion"] = "arrays/motion.npy"
    other = soft("Other", *box(size=(0.2, 0.2, 0.2), at=(0.21, 0.0, 0.0)), arrays)
    part = nodes_of(load(contact_job(tmp_path / "job", [body, other], [], arrays, step=H, end=2, **QUICK)))
    at_start, end = ends(part)
    x = part.carry_along(at_start, end)
    assert np.allclose(x - at_start, [0.03, 0.0, 0.0])


def test_a_step_begins_there_without_a_factor(tmp_path, monkeypatch):
    part = pushed(tmp_path / "job")
    state, factors = part.initial_state(), []
    was = intersection_free_start

    def counted(*args):
        before = part.factored
        found = was(*args)
        factors.append(part.factored - before)
        return found

    monkeypatch.setattr("solver.world.in_contact.intersection_free_start", counted)
    state = stepped(part, state, H, 2)
    assert len(factors) >= 2 and not any(factors)
    assert not crosses(part, state) and distance(part, state) > 0.0
    x = part.coordinates.positions(state.q, state.time)
    assert x[part.bodies_in_world[0].nodes].mean(axis=0)[0] > 0.12


def test_a_motion_is_rigid_or_affine_or_none():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(8, 3))
    flat = x * [1.0, 1.0, 0.0]
    c, s = np.cos(0.4), np.sin(0.4)
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    # of what is flat too: beside it all turns along
    found = MovedAsOne.of(flat, flat @ turn.T + [1.0, 2.0, 3.0])
    assert found.of_points(x) == pytest.approx(x @ turn.T + [1.0, 2.0, 3.0])
    wide = np.diag([2.0, 1.0, 1.0])
    assert MovedAsOne.of(x, x @ wide.T).of_points(x + 1.0) == pytest.approx((x + 1.0) @ wide.T)
    assert MovedAsOne.of(x, x + 1e-3 * rng.normal(size=x.shape)) is None


def test_only_what_touches_the_ground_is_asked_for_its_friction(tmp_path, monkeypatch):
    """A box on an obstacle above the ground, and one on the ground itself."""
    def asked(folder, high):
        arrays = {}
        job = contact_job(tmp_path / folder, [soft("Box", *box(at=(0.0, 0.0, 0.001 + high)), arrays)],
                          [obstacle("Floor", *sheet(1.0, 2, z=0.4), arrays)], arrays, step=H, end=2,
                          ground={"stiffness": 1000.0, "point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0],
                                  "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}}, **QUICK)
        part, count = nodes_of(load(job)), [0]
        was = SolvedEnd.with_friction

        def counted(self, *args):
            count[0] += 1
            return was(self, *args)

        monkeypatch.setattr(SolvedEnd, "with_friction", counted)
        state = part.initial_state()
        for _ in range(6):
            state = part.step(state, H)
        touching = len(part.touching(state))
        monkeypatch.undo()
        return count[0], touching

    on_obstacle, touching = asked("obstacle", 0.4)
    assert touching > 0 and on_obstacle == 0
    on_ground, touching = asked("ground", 0.0)
    assert touching > 0 and on_ground > 0


def test_few_edges_of_what_touches_ask_for_no_shorter_step(tmp_path):
    part = pushed(tmp_path / "job", way=(0.0, 0.0, 0.0), near=1e-4, cells=5)
    start = part.initial_state()
    u = np.zeros((len(part.coordinates.free), 3))
    u[0] = [0.0, 0.0, 0.04 / H]  # one corner of the box that touches the wall, by an edge's length
    after = replace(start, time=H, u=u.ravel(), q=start.q + H * u.ravel())
    assert part.edges.largest_change(after.q.reshape(-1, 3) - start.q.reshape(-1, 3)) == pytest.approx(1.0)
    assert part.deformation(start, after) == 0.0
    far = np.zeros_like(u)
    far[-1] = [0.0, 0.0, 0.1 / H]  # nothing touches that one
    after = replace(start, time=H, u=far.ravel(), q=start.q + H * far.ravel())
    assert part.deformation(start, after) == pytest.approx(1.0)


def test_what_most_edges_change_leaves_a_share_of_each_group_out():
    x = np.zeros((5, 3))
    x[:, 0] = np.arange(5.0)
    edges = Edges(np.array([[0, 1, 2, 3], [1, 2, 3, 4]], np.int32), x)
    moved = np.zeros((5, 3))
    moved[0, 1], moved[4, 1] = 1.0, 0.5
    every = np.arange(len(edges.first))
    nothing = every[:0]
    assert edges.change_of_most(moved, [], every, 0.5) == edges.largest_change(moved) == 1.0
    assert edges.change_of_most(moved, [every], nothing, 1.0) == 1.0
    changes = np.sort([edges.change_of_most(moved, [], np.array([k]), 0.5) for k in every])
    assert edges.change_of_most(moved, [every], nothing, 0.5) == changes[int(0.5 * (len(every) - 1))] < 1.0


def test_both_sides_of_what_is_blocked_are_named(tmp_path):
    part = pushed(tmp_path / "job", near=1e-4, pinned=[26])
    x, _ = ends(part)
    near, wall = part.bodies_in_world[0].nodes, part.obstacles[0].nodes
    assert part.name_blocking_pair(near.start + 26, x) == ('the pin of "Near"', '"Wall"')
    assert part.name_blocking_pair(wall.start, x) == ('"Wall"', '"Near"')
    far = x + [0.0, 0.0, 0.0]
    far[wall] -= [1.0, 0.0, 0.0]
    assert part.name_blocking_pair(wall.start, far) == ('"Wall"', "")
