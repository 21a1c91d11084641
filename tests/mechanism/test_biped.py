"""BIPED as a user's job: a ragdoll falls down stairs, its limbs touch, its knees stay knees."""

import re

import numpy as np
from jointed import solved_stages

from benchmarks.scenes import biped
from solver.build.mechanisms import build_mechanisms
from solver.job.load import load
from solver.world.constraints import ConstraintRows


def carries(world, state, q, u):
    """Kinetic energy [J] at coordinates q and rates u, (m,), on the charts of a state, and the power of weight [W]."""
    at = world.tree.posture(q, u, state.memory)
    down = np.einsum("na,na->n", at.E[:, 2, :3], at.twist[:, 3:])
    return (0.5 * np.einsum("na,nab,nb->", at.twist, world.tree.inertia, at.twist),
            -9.81 * world.tree.inertia[:, 5, 5] @ down)


def test_a_ragdoll_falls_down_stairs_and_comes_to_rest(tmp_path):
    biped.job(tmp_path / "job")
    world = build_mechanisms(load(tmp_path / "job"))
    stages, state, count, h = solved_stages(world), world.initial_state(), 1 + len(biped.LIMBS), 0.01
    limits, start, energies = world.constraints.limits, world.poses(world.initial_state())["pose"], []
    carried, power = carries(world, state, state.q - h * state.u, state.u)
    gains = []
    assert len(limits) == 6
    for _ in range(300):
        before, state = state, world.step(state, h)
        pose = world.poses(state)["pose"]
        assert np.isfinite(pose).all() and biped.lowest_point(pose[:count]) > 0.02
        place = state.q[limits.rate]
        assert (place > limits.low - 1e-9).all() and (place < limits.high + 1e-9).all()
        energies.append(world.energy(state))
        # what it carries where a step is solved grows by what weight has done since the last one, and by nothing else
        now, powers = carries(world, before, before.q, stages[-1].constraint_solution.rates)
        gains.append(now - carried - 0.5 * h * (power + powers))
        carried, power = now, powers
    # stairs stand still, and the one who fell lies at their foot
    assert np.array_equal(pose[count:], start[count:])
    assert pose[0, 1, 3] > 1.0 and pose[0, 2, 3] < 0.6 and np.abs(state.u).max() < 0.3
    mass = sum(world.tree.inertia[i, 5, 5] for i, name in enumerate(world.tree.bodies) if name.startswith("Ragdoll/"))
    assert len(gains) == 300 and max(gains) <= 0.0 and energies[-1] < energies[0] - 800.0
    # the energy of a state is read with its rates where the step ends: limbs that a hit turns by 0.3 rad in one step
    # read less there than they carry, and as much more a step later
    rises = np.maximum(np.diff(energies), 0.0)
    assert (rises > 1.0).sum() <= 1 and rises.sum() < 0.025 * mass * 9.81


def test_contact_and_friction_that_do_not_agree_are_reported_where_and_when_it_shows(tmp_path, monkeypatch):
    """Passes run out in two of three steps of a ragdoll at rest, with errors below a millimeter a second."""
    biped.job(tmp_path / "job")
    world = build_mechanisms(load(tmp_path / "job"))
    stages, state, h, ran_out, reported, places = solved_stages(world), world.initial_state(), 1 / 120, [], [], []
    judge = ConstraintRows.find_unsettled

    def noted(outside, answer, at):
        ran_out.extend([] if answer.off is None else [float(answer.off.max())])
        return judge(outside, answer, at)

    monkeypatch.setattr(ConstraintRows, "find_unsettled", noted)
    for _ in range(200):
        state = world.step(state, h)
        solution = stages[-1].constraint_solution
        if solution.worst is not None:
            reported.append(solution.worst.off)
            places.append(world.poses(state)["pose"][solution.worst.bodies[0], :3, 3])
    assert reported and sorted(reported) == sorted(off for off in ran_out if off > 1e-3)
    assert len(ran_out) > 10 * len(reported)
    (sentence,) = (line for line in world.summary if "did not converge" in line)
    found = re.fullmatch(r'Contact with friction did not converge in (\d+) of 200 steps, least where '
                         r'"(.*)" touches (.*) near \((.*)\) m at (.*) s, by (.*) m/s: lower the step', sentence)
    assert found is not None and int(found[1]) == len(reported) and found[2].startswith("Ragdoll/")
    place = np.array(found[4].split(", "), dtype=float)
    assert np.linalg.norm(place - places[int(np.argmax(reported))]) < 0.4  # on the body that it names
    assert float(found[6]) > 1e-3 and 0.0 < float(found[5]) <= 200 * h
