"""Several bodies of ConJac on one mechanism: each has a J and a factor of its own, and all move as one would."""

import json

import numpy as np
import pytest
from matrix import some
from small_jobs import change
from test_joined_jobs import arm_job, world_of

from solver.build import soft_bodies
from solver.parts.block_condensation import BlockCondensation
from solver.world.ground_friction import FORCE

H = 1 / 48
GROUND = {"point": [0, 0, -0.08], "normal": [0, 0, 1], "stiffness": 50.0,
          "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}}


def fleshy_job(folder, count=2, **scene):
    """The arm with more bars beside its own: the second hangs on both boxes too, others on the lower one alone."""
    job = arm_job(folder, rate=(1.0, -2.0), **scene)
    [first] = json.loads((job / "scene.json").read_text())["bodies"]
    bodies = [first]
    for k in range(1, count):
        np.save(job / "arrays" / f"nodes{k}.npy", np.load(job / "arrays" / "nodes.npy") + [0.0, 0.15 * k, 0.0])
        bodies.append({**first, "name": f"Bar {k}", "tets": {**first["tets"], "nodes": f"arrays/nodes{k}.npy"},
                       "attach": first["attach"][0 if k == 1 else 1:]})
    change(job, "bodies", bodies)
    return job


def bodies_of(world):
    return [member.condensation.retained for member in world.parts[0].condensation.members]


@pytest.mark.parametrize("integrator, ground", some(
    [(integrator, ground) for integrator in ("semi_implicit", "sdirk2", "bdf2") for ground in (None, GROUND)],
    ("semi_implicit", GROUND), ("bdf2", None)))
def test_each_by_itself_moves_as_all_in_one_matrix(tmp_path, monkeypatch, integrator, ground):
    job = fleshy_job(tmp_path / "job", 3, integrator={"kind": integrator}, ground=ground,
                     stage_solver={"kind": "newton_d", "params": {"tolerance": 1e-10}})
    apart = world_of(job)
    assert isinstance(apart.parts[0].condensation, BlockCondensation) and len(bodies_of(apart)) == 3
    monkeypatch.setattr(soft_bodies, "_groups_by_forces", lambda job, prepared: [list(range(len(prepared)))])
    whole = world_of(job)
    assert not isinstance(whole.parts[0].condensation, BlockCondensation)
    ours, wanted = apart.initial_state(), whole.initial_state()
    steps_with_friction = 0
    for _ in range(10):
        ours, wanted = apart.step(ours, H), whole.step(wanted, H)
        steps_with_friction += FORCE in whole.split_state(wanted)[0].memory
    assert (steps_with_friction > 1) == (ground is not None)
    near = 1e-9 if integrator == "semi_implicit" else 1e-6
    assert np.abs(ours.q - wanted.q).max() <= near * np.abs(wanted.q - whole.initial_state().q).max()
    assert np.abs(ours.u - wanted.u).max() <= 10 * near * np.abs(wanted.u).max()


@pytest.mark.parametrize("integrator", some(["semi_implicit", "sdirk2"], "sdirk2"))
def test_each_may_have_a_method_of_its_own(tmp_path, integrator):
    """Bars on the same bones, one with all nodes dynamic and one that moves on its own, move as two of the latter."""
    ends = []
    for method in ("conjac", "vanilla"):
        job = fleshy_job(tmp_path / method, 2, integrator={"kind": integrator},
                         stage_solver={"kind": "newton_d", "params": {"tolerance": 1e-10}})
        free = np.setdiff1d(np.arange(45), np.concatenate([np.load(job / "arrays" / f"{side}.npy")
                                                           for side in ("left", "right")])).astype(np.int32)
        np.save(job / "arrays" / "dynamic.npy", free)
        change(job, "bodies.0.method", {"kind": method, "params": {"beta": 1.0}})
        change(job, "bodies.1.method", {"kind": "vanilla", "params": {"beta": 1.0}})
        world = world_of(job)
        state = world.initial_state()
        for _ in range(6):
            state = world.step(state, H)
        ends.append(state)
    assert np.abs(ends[0].q - ends[1].q).max() <= 1e-6 * np.abs(ends[1].q - world.initial_state().q).max()
    assert np.abs(ends[0].u - ends[1].u).max() <= 1e-5 * np.abs(ends[1].u).max()


def test_what_each_holds_does_not_grow_with_their_number(tmp_path):
    """One J of all would have the square of their number in entries."""
    sizes = {}
    for count in (2, 4):
        world = world_of(fleshy_job(tmp_path / str(count), count))
        members = [member.condensation for member in world.parts[0].condensation.members]
        sizes[count] = {(len(member.inner), len(member.retained)) for member in members[1:]}
        assert len({id(member.linear) for member in members}) == count
        world.step(world.initial_state(), H)
        factored = [member.linear.factored for member in members]
        assert min(factored) == max(factored) > 0
        world.parts[0].forget_past()
    # the second has no free rigid motion, the others hang on one box
    assert len(sizes[2]) == 1 and sizes[2] <= sizes[4] and len(sizes[4]) == 2
