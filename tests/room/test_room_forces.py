"""A force between soft bodies comes from outside, and bakes with a part that the solver does not have either."""

import json

import numpy as np
import pytest
from made_up import Pendulum
from matrix import some
from small_jobs import box_job, change
from worlds import world_of

from solver.errors import BadScene
from solver.job.load import load
from solver.parts.conjac.conjac import ConJac
from solver.state import State
from solver.world.world import World


def hanging_job(folder, kind, **scene):
    """Return a job of a box that is pinned at one end, one that hangs from it by hooks and is free, and one by itself;
    "mixed": the second with Vanilla FEM and the others with ConJac."""
    method = {"kind": "conjac" if kind == "mixed" else kind}
    job = box_job(folder, motion=False, cells=(2, 1, 1), method=method, **scene)
    [body] = json.loads((job / "scene.json").read_text())["bodies"]
    np.save(job / "arrays" / "below.npy", np.load(job / "arrays" / "nodes.npy") - [0.0, 0.0, 0.15])
    np.save(job / "arrays" / "apart.npy", np.load(job / "arrays" / "nodes.npy") + [0.0, 1.0, 0.0])
    free = {"name": "Lamp", "tets": {"nodes": "arrays/below.npy", "tets": "arrays/tets.npy"}, "density": 100.0,
            "material": body["material"], "dynamic": body["dynamic"]}
    alone = {**body, "name": "Apart", "tets": {"nodes": "arrays/apart.npy", "tets": "arrays/tets.npy"}}
    change(job, "bodies", [free | ({"method": {"kind": "vanilla"}} if kind == "mixed" else {}), body, alone])
    change(job, "forces", [{"law": {"kind": "hooks", "params": {"pull": 400.0}}, "bodies": ["Ear", "Lamp"]}])
    return job


def bake(world, h, steps):
    state = world.initial_state()
    for _ in range(steps):
        state = world.step(state, h)
    return state


@pytest.mark.parametrize("kind,integrator", [("vanilla", "semi_implicit"), ("vanilla", "sdirk2"),
                                             ("conjac", "semi_implicit"), ("mixed", "sdirk2"),
                                             pytest.param("mixed", "semi_implicit", marks=pytest.mark.long),
                                             pytest.param("conjac", "bdf2", marks=pytest.mark.long)])
def test_a_made_up_force_between_bodies_bakes_with_a_soft_body_and_a_made_up_part(room, tmp_path, kind, integrator):
    job = hanging_job(tmp_path / "job", kind, integrator={"kind": integrator})
    world = world_of(load(job))
    # what acts on each other is one part; who is by itself in ConJac's has one of its own
    assert [sorted(name for name, _, _ in part.bodies) for part in world.parts] == (
        [["Apart", "Ear", "Lamp"]] if kind == "vanilla" else [["Ear", "Lamp"], ["Apart"]])
    whole = World([*world.parts, Pendulum(0.2)])
    h = 1 / 192
    state = bake(whole, h, 96)
    vertices = {name: whole.output(state, 1)[first:first + count] for name, first, count in whole.bodies}
    rest = {"Lamp": np.load(job / "arrays" / "below.npy"), "Ear": np.load(job / "arrays" / "nodes.npy")}
    fallen = (vertices["Lamp"] - rest["Lamp"])[:, 2].mean()
    # 0.2 kg on 400 N/m: it swings about 5 mm below where it starts, and the ear gives way besides; else it falls 1.2 m
    assert -0.08 < fallen < -0.002
    assert np.linalg.norm(vertices["Bob"][1]) == pytest.approx(0.2)
    # and what nothing joins moves as it does without the others
    change(job, "forces", [])
    loose = world_of(load(job))
    apart = bake(loose, h, 96)
    ranges = {name: (first, count) for name, first, count in loose.bodies}
    first, count = ranges["Apart"]
    assert np.abs(loose.output(apart, 1)[first:first + count] - vertices["Apart"]).max() <= 1e-7
    first, count = ranges["Lamp"]
    assert (loose.output(apart, 1)[first:first + count] - rest["Lamp"])[:, 2].mean() < -1.0


@pytest.mark.parametrize("kind", some(["vanilla", "conjac", "mixed"], "vanilla", "mixed"))
def test_what_hooks_pull_one_way_they_pull_the_other(room, tmp_path, kind):
    """Without gravity and pins momentum is conserved, in both directions of a stretched spring."""
    job = hanging_job(tmp_path / "job", kind, gravity=[0.0, 0.0, 0.0], integrator={"kind": "sdirk2"},
                      stage_solver={"kind": "newton_d", "params": {"tolerance": 1e-11}})
    change(job, "bodies.1.pin", {})
    change(job, "bodies.2.pin", {})
    [part, *_] = world_of(load(job)).parts
    state = part.initial_state()
    lamp = next(body.nodes for body in part.bodies_in_world if body.name == "Lamp")
    u = np.zeros((len(part.rest), 3))
    u[lamp] = [0.05, 0.0, -0.3]
    state = State(0.0, state.q, u[part.coordinates.free].ravel())
    before = part.mass @ part.velocity(state)
    seen = []
    for _ in range(40):
        state = part.step(state, 1 / 192)
        velocity = part.velocity(state)
        assert part.mass @ velocity == pytest.approx(before, abs=1e-9)
        seen.append((part.mass[lamp] @ velocity[lamp])[2])
    # 400 N/m between 0.2 and 2 kg: 7.4 rad/s turns it back after 0.21 s
    assert min(seen) < 0.0 < max(seen)


@pytest.mark.parametrize("kind,integrator", some(
    [("vanilla", "semi_implicit"), ("vanilla", "bdf2"), ("vanilla", "sbdf2"), ("conjac", "semi_implicit"),
     ("conjac", "sdirk2"), ("mixed", "semi_implicit"), ("mixed", "sdirk2")],
    ("vanilla", "semi_implicit"), ("vanilla", "bdf2"), ("vanilla", "sbdf2"), ("conjac", "semi_implicit")))
def test_what_hooks_damp_comes_to_rest_and_momentum_stays(room, tmp_path, kind, integrator):
    """Two stiff boxes on a damped spring follow m ẍ = −k x − c ẋ, x the distance of their centres, and conserve
    momentum."""
    job = hanging_job(tmp_path / "job", kind, gravity=[0.0, 0.0, 0.0], integrator={"kind": integrator},
                      stage_solver={"kind": "newton_d", "params": {"tolerance": 1e-11}})
    change(job, "bodies.1.pin", {})
    change(job, "bodies.2.pin", {})
    for k in range(2):
        change(job, f"bodies.{k}.material.params", {"youngs_modulus": 1e8})
    change(job, "forces.0.law.params", {"pull": 40.0, "drag": 1.5})
    [part, *_] = world_of(load(job)).parts
    state = part.initial_state()
    lamp, ear = (next(body.nodes for body in part.bodies_in_world if body.name == name) for name in ("Lamp", "Ear"))
    u = np.zeros((len(part.rest), 3))
    u[lamp, 2] = -0.02
    state = State(0.0, state.q, u[part.coordinates.free].ravel())
    before = part.mass @ part.velocity(state)
    h, seen = 1 / 480, []
    for _ in range(120):
        state = part.step(state, h)
        velocity = part.velocity(state)
        assert part.mass @ velocity == pytest.approx(before, abs=1e-8 if kind == "mixed" else 1e-9)
        seen.append([part.mass[body] @ velocity[body, 2] / part.mass[body].sum() for body in (lamp, ear)])
    reduced = 1.0 / (1.0 / part.mass[lamp].sum() + 1.0 / part.mass[ear].sum())
    roots = np.roots([reduced, 1.5, 40.0])
    weights = np.linalg.solve([[1.0, 1.0], roots], [0.0, -0.02])  # apart by nothing, and at this rate
    rates = ((weights * roots)[:, None] * np.exp(np.outer(roots, h * np.arange(1, 121)))).sum(axis=0).real
    apart = np.array(seen)[:, 0] - np.array(seen)[:, 1]
    assert np.abs(apart - rates).max() <= (0.05 if integrator == "semi_implicit" else 0.01) * 0.02
    # without the damping it would swing on
    assert np.abs(rates[60:]).max() < 0.5 * 0.02


def test_forces_between_bodies_are_checked(room, tmp_path):
    job = hanging_job(tmp_path / "job", "conjac")
    for bodies, message in (([], "acts on no body"), (["Ear", "Lam"], r'"Lam" is no soft body.*Use Lamp, Ear, Apart'),
                            (["Ear", "Ear"], '"Ear" is named twice')):
        change(job, "forces.0.bodies", bodies)
        with pytest.raises(BadScene, match=message):
            load(job)
    change(job, "forces.0.bodies", ["Ear", "Lamp"])
    change(job, "bodies.0.method", {"kind": "vanilla", "params": {"beta": 0.8}})
    with pytest.raises(BadScene, match='"Lamp" and "Ear" are joined by a force and have a Damping of'):
        load(job)
    change(job, "integrator", {"kind": "sdirk2"})
    load(job)
    change(job, "forces.0.law.kind", "hoks")
    with pytest.raises(BadScene, match='There is no force "hoks"'):
        load(job)


def test_forces_count_in_the_hash_and_names_do_not(room, tmp_path):
    from solver.job.hashes import hashes, settings

    job = hanging_job(tmp_path / "job", "conjac")
    first = hashes(settings(load(job))).solve
    change(job, "bodies.0.name", "Bulb")
    change(job, "forces.0.bodies", ["Ear", "Bulb"])
    assert hashes(settings(load(job))).solve == first
    change(job, "forces.0.law.params", {"pull": 401.0})
    assert hashes(settings(load(job))).solve != first
    change(job, "forces", [])
    assert hashes(settings(load(job))).solve != first


def test_what_a_force_joins_to_flesh_on_bones_is_solved_with_it(room, tmp_path):
    """A lamp hangs by hooks from an ear on a body that only a hinge moves."""
    job = hanging_job(tmp_path / "job", "conjac")
    arm = {"name": "Arm", "position": [-0.1, 0.05, 0.05], "mass": 5.0, "shape": {"kind": "box"}}
    hinge = {"name": "Hinge", "child": "Arm", "position": [-0.2, 0.05, 0.05], "rotation": [0.5**0.5, -(0.5**0.5), 0, 0],
             "stiffness": [500.0]}
    change(job, "mechanisms", [{"name": "Robot", "bodies": [arm], "joints": [hinge]}])
    change(job, "bodies.1.pin", {})
    change(job, "bodies.1.attach", [{"mechanism": "Robot", "body": "Arm", "nodes": "arrays/pinned.npy"}])
    world = world_of(load(job))
    assert [sorted(name for name, _, _ in part.bodies) for part in world.parts] == [["Apart"], ["Ear", "Lamp"], []]
    assert isinstance(world.parts[1].condensation, ConJac)  # one, as their rows meet
    state = bake(world, 1 / 192, 48)
    ranges = {name: (first, count) for name, first, count in world.bodies}
    first, count = ranges["Lamp"]
    fallen = (world.output(state, 1)[first:first + count] - np.load(job / "arrays" / "below.npy"))[:, 2].mean()
    assert -0.15 < fallen < -0.002  # 0.3 m where nothing holds it
    change(job, "bodies.0.cuts", [{"frame": 3, "kind": "plane", "point": [0.1, 0, 0], "normal": [1, 0, 0]}])
    load(job)
    lamp = json.loads((job / "scene.json").read_text())["bodies"][0]
    change(job, "bodies.0", {key: value for key, value in lamp.items()
                             if key != "cuts"} | {"method": {"kind": "vanilla"}})
    with pytest.raises(BadScene, match='"Lamp" and "Ear" have different methods, and "Ear", .* is attached to bones'):
        load(job)
