"""Falls on the ground end at rest with every integrator, at short steps and at a frame a step, baked too."""

import json

import numpy as np
import pytest
from matrix import some
from mechanisms import mechanism_job, mechanism_world

from benchmarks.scenes import biped
from solver.build.mechanisms import build_mechanisms
from solver.cli import main
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import advance

GROUND = {"point": [0, 0, 0], "normal": [0, 0, 1],
          "friction": {"kind": "coulomb", "params": {"friction_coefficient": 0.5}}}
ITERATING = ("backward_euler", "bdf2", "sdirk2")
LIFTED = 1.0 / 24.0  #: [m] that what overlaps is lifted in a frame at most


def box(name, place, size=(0.2, 0.2, 0.2), **more):
    return {"name": name, "position": list(place), "mass": 1.0, **more,
            "shape": {"kind": "box", "params": dict(zip(("size_x", "size_y", "size_z"), size))}}


SCENES = {"tilted": [box("Box", (0, 0, 1), (0.4, 0.2, 0.1), rotation=[0.9, 0.3, 0.2, 0.1])],
          "stack": [box("Low", (0, 0, 0.1)), box("Middle", (0.02, 0.01, 0.35)), box("High", (-0.02, 0, 0.6))]}
REST = {"tilted": [0.05], "stack": [0.1, 0.3, 0.5]}


CASES = [(integrator, scene, steps) for integrator in ("leapfrog", *ITERATING) for scene in SCENES
         for steps in (24, 120)]


@pytest.mark.parametrize("integrator, scene, steps", some(
    CASES, *(case for case in CASES if case[2] == 24), ("leapfrog", "stack", 120)))
def test_boxes_come_to_rest_and_no_impact_gives_energy(tmp_path, scene, integrator, steps):
    robot = {"name": "Robot", "bodies": SCENES[scene], "self_collisions": True}
    world = mechanism_world(tmp_path, [], [], mechanisms=[robot], ground=GROUND, integrator=integrator, tolerance=1e-6)
    state, energies, halved = world.initial_state(), [], []
    for _ in range(2 * steps):
        energies.append(world.energy(state))
        state = advance(world, state, 1 / steps, 1, halved=halved)
    moving = sorted(world.poses(state)["pose"][:, 2, 3])
    assert moving == pytest.approx(REST[scene], abs=1e-3) and np.abs(state.u).max() < 1e-6
    # all that may rise is what overlapped after a long step, by being lifted out
    most = 1e-3 if steps == 120 else 9.81 * LIFTED
    assert np.diff(energies).max() < most and max(energies) < energies[0] + 1e-9
    assert len(halved) < 5 and world.iterations < 2 * steps * 8


@pytest.mark.parametrize("integrator", ("leapfrog", *ITERATING))
def test_a_box_that_falls_askew_bakes_at_a_frame_a_step(tmp_path, integrator):
    job = mechanism_job(tmp_path / "job", SCENES["tilted"], [], end=37, ground=GROUND, integrator=integrator,
                        tolerance=1e-6)
    assert main(["bake", str(job)]) == 0
    assert Cache(load(job).cache).poses(37)["pose"][0, 2, 3] == pytest.approx(0.05, abs=2e-3)


@pytest.mark.long
@pytest.mark.parametrize("integrator", ITERATING)
def test_a_ragdoll_falls_down_stairs(tmp_path, integrator):
    biped.job(tmp_path / "job", step=1 / 24)
    path = tmp_path / "job" / "scene.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"integrator": {"kind": integrator}}))
    world = build_mechanisms(load(tmp_path / "job"))
    state, count, limits, energies = world.initial_state(), 1 + len(biped.LIMBS), world.constraints.limits, []
    for _ in range(48):
        state = advance(world, state, 1 / 24, 1)
        energies.append(world.energy(state))
        assert biped.lowest_point(world.poses(state)["pose"][:count]) > 0.0
        place = state.q[limits.rate]
        assert (place > limits.low - 1e-6).all() and (place < limits.high + 1e-6).all()
    assert energies[-1] < energies[0] - 800.0
    mass = sum(world.tree.inertia[i, 5, 5] for i, name in enumerate(world.tree.bodies) if name.startswith("Ragdoll/"))
    assert np.diff(energies).max() < mass * 9.81 * LIFTED


@pytest.mark.parametrize("integrator", ["bdf2", "sdirk2"])
def test_two_rods_that_unfold_to_their_stop_gain_no_energy(tmp_path, integrator):
    """Within a frame they turn by half a radian and more, where the same rates are more energy than they brought."""
    bodies = [box("Upper", (0, 0, 0), (0.1, 0.1, 0.4)), box("Lower", (0, 0, -0.4), (0.1, 0.1, 0.4))]
    joints = [{"name": "Root", "kind": "free", "child": "Upper", "position": [0, 0, 0], "rate": [12, 0, 0, 0, 0, 0]},
              {"name": "Elbow", "kind": "revolute", "child": "Lower", "parent": "Upper", "position": [0, 0, -0.2],
               "rotation": biped.ALONG_X, "rate": [20.0], "low": [-0.5], "high": [0.5]}]
    world = mechanism_world(tmp_path, bodies, joints, integrator=integrator, tolerance=1e-8, gravity=[0, 0, 0])
    state = world.initial_state()
    before = world.energy(state)
    state = advance(world, state, 1 / 24, 1)
    assert world.impacts.count and -0.5 < state.q[-1] < 0.5 + 1e-6
    assert 0.5 * before < world.energy(state) < before
