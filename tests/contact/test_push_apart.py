"""Surfaces that cross at the start are pushed apart over a while, if that is asked; else they are refused by name."""

import numpy as np
import pytest
from small_jobs import change
from touching import box, contact_job, crosses, obstacle, sheet, soft
from worlds import nodes_of

from solver.errors import BadScene, StepFailed
from solver.job.load import load

H, WHILE = 1 / 96, 0.25


def crossing(folder, seconds=WHILE, floor=-0.02, **scene):
    """A block that stands 2 cm deep in a sheet, and one that stands 3 cm deep in it and a little askew."""
    arrays = {}
    bodies = [soft("Lower", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.1, -0.1, 0.0)), arrays, modulus=3e4),
              soft("Upper", *box((2, 2, 2), (0.2, 0.2, 0.2), (-0.07, -0.06, 0.17)), arrays, modulus=3e4)]
    contact = {"law": {"kind": "barrier", "params": {"push_apart": seconds}}}
    return contact_job(folder, bodies, [obstacle("Floor", *sheet(1.0, 3, -floor), arrays, friction=0.5)], arrays,
                       contact=contact, **{"stage_solver": {"kind": "quick"}, **scene})


@pytest.mark.parametrize("method,integrator", [("vanilla", "backward_euler"), ("vanilla", "semi_implicit"),
                                               pytest.param("conjac", "sdirk2", marks=pytest.mark.long)])
def test_what_crosses_is_pushed_apart_and_not_thrown(tmp_path, method, integrator):
    part = nodes_of(load(crossing(tmp_path / "job", method={"kind": method}, integrator={"kind": integrator})))
    state, law = part.initial_state(), part.contacts[0]
    assert np.array_equal(state.q.reshape(-1, 3), part.rest[part.coordinates.free])
    apart, fastest = None, 0.0
    for k in range(80):  # what leaves slowly is itself again a while later
        state = part.step(state, H)
        x = part.coordinates.positions(state.q, state.time)
        if apart is not None:
            continue
        fastest = max([fastest, *(float(np.linalg.norm(part.velocity(state)[body.nodes].mean(axis=0)))
                                  for body in part.bodies_in_world)])
        if law._complete_law.surfaces.intersection(x) is None:
            apart = k
    # in the time that was given, and as much again where weight holds it up; 5 cm in a quarter of a second
    assert apart is not None and 0.5 * WHILE < (apart + 1) * H < 2.0 * WHILE
    assert fastest < 1.0
    assert law._springs is None and law.surfaces is law._complete_law.surfaces
    assert not crosses(part, state)
    assert x[:27, 2].min() > 0.02 and x[27:54, 2].min() > 0.02
    # their shape at rest is their own
    sides = part.tets[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2)
    now, rest = (np.linalg.norm(at[sides[:, 0]] - at[sides[:, 1]], axis=1) for at in (x, part.rest))
    assert now == pytest.approx(rest, rel=0.4)


def test_what_comes_apart_leaves_slowly(tmp_path):
    """Two free blocks, 6 cm in each other: they carry no speed of the pushing, 24 cm/s on average, when they part."""
    arrays = {}
    bodies = [soft(name, *box((2, 2, 2), (0.2, 0.2, 0.2), (0.01 * up, 0.02 * up, 0.14 * up)), arrays, modulus=3e4)
              for up, name in enumerate(("Lower", "Upper"))]
    job = contact_job(tmp_path / "job", bodies, [], arrays, gravity=[0.0, 0.0, 0.0],
                      contact={"law": {"kind": "barrier", "params": {"push_apart": WHILE}}},
                      stage_solver={"kind": "quick"})
    part = nodes_of(load(job))
    state, fastest = part.initial_state(), 0.0
    while part.contacts[0]._springs is not None and state.time < 2.0 * WHILE:
        state = part.step(state, H)
        up = [part.velocity(state)[body.nodes].mean(axis=0)[2] for body in part.bodies_in_world]
        fastest = max(fastest, up[1] - up[0])
    assert 0.24 < fastest < 0.6
    for _ in range(5):
        state = part.step(state, H)
    up = [part.velocity(state)[body.nodes].mean(axis=0)[2] for body in part.bodies_in_world]
    assert 0.0 <= up[1] - up[0] < 0.05
    assert part.contacts[0]._springs is None


def test_its_springs_are_the_slope_of_their_energy_and_cancel(tmp_path):
    part = nodes_of(load(crossing(tmp_path / "job")))
    law = part.contacts[0]
    rng = np.random.default_rng(3)
    x = part.rest + 1e-3 * rng.normal(size=part.rest.shape)
    law.begin(x, 0.1)
    table = law.fill(x, 0.1, True)
    assert len(table.nodes) > len(law._separated_law.fill(x, 0.1, True).nodes)
    assert np.abs(table.forces.sum(axis=1)).max() <= 1e-12 * np.abs(table.forces).max()
    force, way, eps = np.zeros_like(x), rng.normal(size=x.shape), 1e-7
    table.add_forces(force)
    slope = (law.measure(x + eps * way, 0.1).energy - law.measure(x - eps * way, 0.1).energy) / (2 * eps)
    assert -float(np.vdot(force, way)) == pytest.approx(slope, rel=1e-5)
    ahead, behind = np.zeros_like(x), np.zeros_like(x)
    law.measure(x + eps * way, 0.1).add_forces(ahead)
    law.measure(x - eps * way, 0.1).add_forces(behind)
    product = np.zeros_like(x)
    for nodes, blocks in zip(table.nodes, table.blocks):
        for (a, b), block in zip([(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)], blocks.reshape(6, 3, 3)):
            product[nodes[a]] += block @ (way[nodes[b]] - way[nodes[a]])
            product[nodes[b]] += block.T @ (way[nodes[a]] - way[nodes[b]])
    assert product == pytest.approx((ahead - behind) / (2 * eps), abs=1e-4 * np.abs(product).max())


def test_without_it_the_start_is_refused_by_name(tmp_path):
    job = crossing(tmp_path / "job", seconds=0.0)
    with pytest.raises(BadScene, match='crosses "') as refused:
        nodes_of(load(job))
    assert "Push Apart" in str(refused.value)


def test_what_cannot_come_apart_is_reported_with_the_position(tmp_path):
    """Both blocks are pinned in each other."""
    job = crossing(tmp_path / "job")
    np.save(job / "arrays" / "pin.npy", np.arange(1, 27, dtype=np.int32))
    change(job, "bodies.0.pin", {"nodes": "arrays/pin.npy"})
    change(job, "bodies.1.pin", {"nodes": "arrays/pin.npy"})
    part = nodes_of(load(job))
    state = part.initial_state()
    with pytest.raises(StepFailed, match=r'is not pushed apart from "\w+" after [\d.]+ s, near \('):
        for _ in range(80):
            state = part.step(state, H)
