"""Worlds that nobody would build on purpose: they are refused with a sentence, or simply work."""

import json

import numpy as np
import pytest
from made_up import Pendulum
from mechanisms import HINGE_ALONG_Y, mechanism_job
from small_jobs import box_job, change
from worlds import world_of

from solver.errors import BadScene, NoFreeNode
from solver.job.load import load
from solver.world.world import World

H = 1 / 96
BOX = {"kind": "box", "params": {"size_x": 0.2, "size_y": 0.1, "size_z": 0.1}}


def many_job(folder, count, kind, **scene):
    """So many small boxes side by side, every one held at its left face."""
    job = box_job(folder, cells=(1, 1, 1), motion=False, method={"kind": kind}, **scene)
    [body] = json.loads((job / "scene.json").read_text())["bodies"]
    bodies = []
    for k in range(count):
        np.save(job / "arrays" / f"nodes{k}.npy", np.load(job / "arrays" / "nodes.npy") + [0.0, 0.3 * k, 0.0])
        bodies.append({**body, "name": f"Box {k}", "tets": {**body["tets"], "nodes": f"arrays/nodes{k}.npy"}})
    change(job, "bodies", bodies)
    return job


def robot(folder):
    """A mechanism of one body, as scene.json has it."""
    job = mechanism_job(folder, [{"name": "Arm", "shape": BOX}], [])
    return json.loads((job / "scene.json").read_text())["mechanisms"]


def test_two_parts_of_one_name():
    with pytest.raises(BadScene, match=r'Two parts have a body called "Bob"\. Give each a name of its own'):
        World([Pendulum(0.2), Pendulum(0.3)])


def test_a_soft_body_may_be_called_as_a_mechanism(tmp_path):
    """They are of two kinds, and each has an output of its own."""
    job = box_job(tmp_path / "job", cells=(1, 1, 1), motion=False, name="Robot")
    change(job, "mechanisms", robot(tmp_path / "rigid"))
    world = world_of(load(job))
    state = world.step(world.initial_state(), H)
    assert [name for name, _, _ in world.bodies] == ["Robot"] and len(world.poses(state)["pose"]) == 1


@pytest.mark.parametrize("mechanism,body,message", [("Robot", "Leg", 'names the body "Leg", which is not there'),
                                                 ("Droid", "Arm", '"Droid"')])
def test_an_attachment_to_what_does_not_exist(tmp_path, mechanism, body, message):
    job = box_job(tmp_path / "job", cells=(2, 1, 1), motion=False)
    change(job, "mechanisms", robot(tmp_path / "rigid"))
    np.save(job / "arrays" / "ride.npy", np.array([1], np.int32))
    change(job, "bodies.0.attach", [{"mechanism": mechanism, "body": body, "nodes": "arrays/ride.npy"}])
    with pytest.raises(BadScene, match=message) as refused:
        load(job)
    assert refused.value.where.startswith("$.bodies[0].attach[0]")


def test_a_circle_of_attachments(tmp_path):
    """Only joints ride on joints: flesh rides on bones and bones on no flesh."""
    bodies = [{"name": name, "position": [k, 0, 0], "shape": BOX} for k, name in enumerate("ABC")]
    joints = [{"name": f"To {child}", "child": child, "parent": parent, "rotation": HINGE_ALONG_Y}
              for child, parent in ("AB", "BC", "CA")]
    with pytest.raises(BadScene, match="go around in a circle") as refused:
        load(mechanism_job(tmp_path / "job", bodies, joints))
    assert refused.value.where.startswith("$.mechanisms[0].joints")


@pytest.mark.parametrize("kind", ["conjac", "vanilla"])
def test_a_body_whose_every_node_is_pinned(tmp_path, kind):
    job = many_job(tmp_path / "job", 2, kind)
    np.save(job / "arrays" / "all.npy", np.arange(8, dtype=np.int32))
    change(job, "bodies.1.pin.nodes", "arrays/all.npy")
    with pytest.raises(NoFreeNode, match='"Box 1": every node is pinned, so nothing can move'):
        world_of(load(job))


def test_a_mechanism_that_nothing_can_move_stands_still(tmp_path):
    """All joints are fixed, or driven."""
    bodies = [{"name": name, "position": [0.3 * k, 0, 0], "shape": BOX} for k, name in enumerate("AB")]
    fixed = [{"name": "First", "child": "A", "kind": "fixed"},
             {"name": "Second", "child": "B", "parent": "A", "kind": "fixed"}]
    driven = [fixed[0], {"name": "Second", "child": "B", "parent": "A", "rotation": HINGE_ALONG_Y,
                         "motor": {"mode": {"kind": "drive"}, "target": [0.0]}}]
    for name, joints in (("fixed", fixed), ("driven", driven)):
        for integrator in ("semi_implicit", "sdirk2"):
            world = world_of(load(mechanism_job(tmp_path / f"{name} {integrator}", bodies, joints,
                                                integrator=integrator)))
            before = world.initial_state()
            state = before
            for _ in range(3):
                state = world.step(state, H)
            assert world.poses(state)["pose"] == pytest.approx(world.poses(before)["pose"], abs=1e-9)


@pytest.mark.parametrize("kind,parts", [("conjac", 200), ("vanilla", 1)])
def test_a_scene_of_two_hundred_bodies(tmp_path, kind, parts):
    world = world_of(load(many_job(tmp_path / "job", 200, kind)))
    assert len(world.parts) == parts and len(world.bodies) == 200
    state = world.initial_state()
    for _ in range(2):
        state = world.step(state, H)
    vertices = world.output(state, 1).reshape(200, 8, 3)
    start = world.output(world.initial_state(), 1).reshape(200, 8, 3)
    sunk = vertices - start
    assert sunk[0, :, 2].min() < -1e-4
    assert np.abs(sunk - sunk[0]).max() <= 1e-9
