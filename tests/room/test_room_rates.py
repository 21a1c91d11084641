"""A law on the rates of joints comes from outside."""

import numpy as np
import pytest
from matrix import crossed
from mechanisms import mechanism_job, run
from small_jobs import box_job, change
from worlds import world_of

from solver.build.mechanisms import build_mechanisms
from solver.errors import BadScene
from solver.job.load import load

WHEEL = {"kind": "sphere", "params": {"radius": 0.1}}


def wheels(joints=2, **belt):
    """Return a job of wheels side by side on hinges along Z, the first one spinning, and a belt from the first to the
    second."""
    bodies = [{"name": f"Wheel {k}", "position": [0.4 * k, 0, 0], "mass": 2.0, "shape": WHEEL} for k in range(joints)]
    hinges = [{"name": f"Axle {k}", "child": f"Wheel {k}", "position": [0.4 * k, 0, 0], "rate": [0.0 if k else 3.0]}
              for k in range(joints)]
    force = {"rate_law": {"kind": "belt", "params": belt}, "joints": ["Axle 0", "Axle 1"]}
    return bodies, hinges, force


def belt_mechanism(folder, integrator, bodies, hinges, force, **scene):
    job = mechanism_job(folder, bodies, hinges, integrator=integrator, **scene)
    change(job, "mechanisms.0.rate_forces", [force])
    return job


@pytest.mark.parametrize("integrator, friction", crossed(["semi_implicit", "bdf2", "sdirk2"], ["none", "bisp"]))
def test_a_made_up_law_on_rates_bakes(room, tmp_path, integrator, friction):
    """M θ̈ = −(k θ + c θ̇) of two wheels is compared with its closed solution; M includes a flywheel that no body
    has."""
    from scipy.linalg import expm

    bodies, hinges, force = wheels(pull=30.0, drag=0.05, flywheel=0.02)
    if friction == "bisp":
        # a bearing that rubs next to nothing: what joints carry is asked all the same
        hinges[1]["friction"] = {"mu": 1e-9}
    world = build_mechanisms(load(belt_mechanism(tmp_path / "job", integrator, bodies, hinges, force,
                                                 gravity=[0.0, 0.0, 0.0], joint_friction={"kind": friction})))
    steps, h = 400, 1e-3
    state = run(world, h, steps)
    moment = 0.4 * 2.0 * 0.1**2
    mass, direction = np.diag([moment + 0.02, moment]), np.array([1.0, -2.0])
    rates = np.zeros((4, 4))
    rates[:2, 2:] = np.eye(2)
    rates[2:, :2] = np.linalg.solve(mass, -30.0 * np.outer(direction, direction))
    rates[2:, 2:] = np.linalg.solve(mass, -0.05 * np.outer(direction, direction))
    wanted = expm(steps * h * rates) @ [0.0, 0.0, 3.0, 0.0]
    near = 0.15 if integrator == "semi_implicit" else 2e-3
    assert np.abs([*state.q, *state.u] - wanted).max() <= near * 3.0
    # the spring couples both: without it the second wheel would not have moved
    assert abs(wanted[3]) > 0.5


def test_a_law_on_rates_conserves_the_energy_that_it_reports(room, tmp_path):
    bodies, hinges, force = wheels(3, flywheel=0.05)
    world = build_mechanisms(load(belt_mechanism(tmp_path / "job", "sdirk2", bodies, hinges, force)))
    before = world.initial_state()
    after = run(world, 2e-4, 500, before)
    assert world.energy(before) == pytest.approx(0.5 * (0.008 + 0.05) * 9.0)
    assert world.energy(after) == pytest.approx(world.energy(before), rel=1e-5)


def test_a_law_on_rates_acts_on_bones_with_flesh(room, tmp_path):
    """To the belt, bodies on the wheels are additional inertia."""
    bodies, hinges, force = wheels(pull=30.0)
    job = box_job(tmp_path / "job", motion=False, cells=(2, 1, 1), gravity=[0.0, 0.0, 0.0],
                  method={"kind": "vanilla"}, integrator={"kind": "sdirk2"})
    change(job, "bodies.0.pin", {})
    change(job, "bodies.0.material.params", {"youngs_modulus": 1e8})
    nodes = np.load(job / "arrays" / "nodes.npy")
    np.save(job / "arrays" / "held.npy", np.arange(len(nodes) - 4, dtype=np.int32))
    change(job, "bodies.0.attach", [{"mechanism": "Robot", "body": "Wheel 1", "nodes": "arrays/held.npy"}])
    change(job, "mechanisms", [{"name": "Robot", "bodies": bodies, "joints": hinges, "rate_forces": [force]}])
    world = world_of(load(job))
    [part, jointed] = world.parts
    state = world.initial_state()
    moment = jointed.tree.inertia[:, 2, 2]
    soft = world.split_state(state)[0]
    x = part.coordinates.positions(soft.q, 0.0, soft.carrier_motion) - [0.4, 0.0, 0.0]
    heavier = moment[1] + part.mass @ (x[:, 0]**2 + x[:, 1]**2)
    for _ in range(100):
        state = world.step(state, 1e-3)
    joints = world.split_state(state)[1]
    direction = np.array([1.0, -2.0])
    frequency = np.sqrt(30.0 * (direction**2 @ (1.0 / np.array([moment[0], heavier]))))
    # apart they swing at this frequency, and the mean of both, weighed with what they are worth, goes on as it was
    assert direction @ joints.u == pytest.approx(3.0 * np.cos(0.1 * frequency), abs=0.03)
    # J_0 u_0 and J_1 u_1 change as 1 to −2, so this stays
    assert 2.0 * moment[0] * joints.u[0] + heavier * joints.u[1] == pytest.approx(2.0 * moment[0] * 3.0, rel=5e-3)


def test_laws_on_rates_are_checked(room, tmp_path):
    bodies, hinges, force = wheels()
    job = belt_mechanism(tmp_path / "job", "bdf2", bodies, hinges, force)
    for joints, message in (([], "acts on no joint"),
                            (["Axle 0", "Axle 7"], '"Axle 7" is no joint of "Robot".*Use Axle 0'),
                            (["Axle 0", "Axle 0"], '"Axle 0" is named twice')):
        change(job, "mechanisms.0.rate_forces.0.joints", joints)
        with pytest.raises(BadScene, match=message):
            load(job)
    change(job, "mechanisms.0.rate_forces.0.joints", ["Axle 0", "Axle 1"])
    change(job, "mechanisms.0.joints.1", {"name": "Axle 1", "child": "Wheel 1", "kind": "spherical"})
    with pytest.raises(BadScene, match='"Axle 1" neither turns about axes.*Name hinges'):
        build_mechanisms(load(job))
