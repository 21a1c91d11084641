"""Scenes of jointed bodies: errors are reported in a sentence, and changes by plain names."""

import copy

import numpy as np
import pytest
from small_jobs import change, write_job

from solver import catalogue
from solver.errors import BadInput
from solver.job.changes import list_changes
from solver.job.hashes import BODY_READERS, MECHANISM_READERS, hashes, settings
from solver.job.load import load
from solver.job.schema import Body
from solver.job.schema_mechanisms import Mechanism

TIME = {"start": 1, "end": 3, "fps": 24, "step": 1 / 48}
ARM = {
    "name": "Robot",
    "bodies": [{"name": "Upper", "position": [0, 0, 1]}, {"name": "Lower", "mass": 2.0}, {"name": "Hand"}],
    "joints": [{"name": "Shoulder", "child": "Upper"},
               {"name": "Elbow", "child": "Lower", "parent": "Upper", "low": [-1.0], "high": [2.0]}],
    "loops": [{"name": "Strap", "body_a": "Hand", "body_b": "Upper"}],
    "springs": [{"body_a": "Hand", "point_a": [0, 0, 0], "point_b": [0, 0, 1], "stiffness": 5.0}],
}


def arm_job(folder, **scene):
    arrays = {"flat": np.eye(4)[:, :3] * [1.0, 1.0, 0.0], "corners": np.eye(4)[:, :3],
              "target": np.zeros((5, 1)), "short": np.zeros((2, 1))}
    return write_job(folder, {"version": 1, "name": "arm", "time": TIME, "mechanisms": [copy.deepcopy(ARM)], **scene},
                     arrays)


def test_a_scene_of_mechanisms_alone_is_read_with_its_defaults(tmp_path):
    scene = load(arm_job(tmp_path)).scene
    assert scene.bodies == [] and scene.joint_friction.kind == "none"
    robot = scene.mechanisms[0]
    assert (robot.bodies[0].shape.kind, robot.bodies[1].mass, robot.joints[1].parent) == ("box", 2.0, "Upper")
    assert robot.joints[0].kind == "revolute" and robot.joints[0].low == []


@pytest.mark.parametrize("key", list(catalogue.family("integrator")))
def test_every_integrator_moves_joints_or_says_why_it_cannot(tmp_path, key):
    entry = catalogue.find("integrator", key)
    job = arm_job(tmp_path, integrator={"kind": key})
    why = entry.why_not("joints")
    if not why:
        assert load(job).scene.integrator.kind == key
        return
    with pytest.raises(BadInput, match=f"does not move jointed bodies: {why}") as refused:
        load(job)
    assert refused.value.where == "$.integrator.kind"
    assert "Use Semi-Implicit Euler, Semi-Implicit Leapfrog, Backward Euler, BDF2, SDIRK2, Three" in str(refused.value)


@pytest.mark.parametrize(("path", "value", "where", "message"), [
    ("mechanisms", [], "$.bodies", "neither soft bodies nor mechanisms"),
    ("integrator", {"kind": "midpoint"}, "$.integrator.kind", "Implicit Midpoint does not move jointed bodies"),
    ("time.tolerance", 0.1, "$.time.tolerance", "an accuracy cannot choose the steps"),
    ("joint_friction", {"kind": "oil"}, "$.joint_friction.kind", 'no joint friction "oil"'),
    ("mechanisms.0.name", "", "$.mechanisms[0].name", "the mechanism has no name"),
    ("mechanisms.0.bodies", [], "$.mechanisms[0].bodies", '"Robot" has no body'),
    ("mechanisms.0.bodies.1.name", "Upper", "$.mechanisms[0].bodies[1].name", 'two rigid bodies are called "Upper"'),
    ("mechanisms.0.bodies.0.mass", 0, "$.mechanisms[0].bodies[0].mass", '"Upper" has a mass of 0 kg'),
    ("mechanisms.0.bodies.0.density", -1, "$.mechanisms[0].bodies[0].density", "a density of -1"),
    ("mechanisms.0.bodies.0.friction", -1, "$.mechanisms[0].bodies[0].friction", "a friction of -1"),
    ("mechanisms.0.bodies.0.rotation", [0, 0, 0, 0], "$.mechanisms[0].bodies[0].rotation", "is zero"),
    ("mechanisms.0.bodies.0.position", [0, 0, 1e40], "$.mechanisms[0].bodies[0].position", "is beyond 1e+30"),
    ("mechanisms.0.bodies.0.shape", {"kind": "box", "params": {"size_y": 0}},
     "$.mechanisms[0].bodies[0].shape.params.size_y", "is flat: Size Y is 0"),
    ("mechanisms.0.bodies.0.shape", {"kind": "hull"}, "$.mechanisms[0].bodies[0].vertices", "needs vertices"),
    ("mechanisms.0.bodies.0.vertices", "arrays/corners.npy", "$.mechanisms[0].bodies[0].vertices", "has no vertices"),
    ("mechanisms.0.bodies.0", {"name": "Upper", "shape": {"kind": "hull"}, "vertices": "arrays/flat.npy"},
     "$.mechanisms[0].bodies[0].vertices", "its vertices lie in a plane"),
    ("mechanisms.0.bodies.0.motion", "arrays/target.npy", "$.mechanisms[0].bodies[0].motion", "should have (5, 4, 4)"),
    ("mechanisms.0.joints.1.name", "Shoulder", "$.mechanisms[0].joints[1].name", 'two joints are called "Shoulder"'),
    ("mechanisms.0.joints.1.kind", "rope", "$.mechanisms[0].joints[1].kind", 'no joint "rope"'),
    ("mechanisms.0.joints.1.child", "Foot", "$.mechanisms[0].joints[1].child", 'names the body "Foot"'),
    ("mechanisms.0.joints.1.parent", "Foot", "$.mechanisms[0].joints[1].parent", 'names the body "Foot"'),
    ("mechanisms.0.joints.1.child", "Upper", "$.mechanisms[0].joints[1].child", "is attached to two joints"),
    ("mechanisms.0.joints.0.parent", "Lower", "$.mechanisms[0].joints[0].parent", "go around in a circle: Upper on"),
    ("mechanisms.0.joints.1.parent", "Lower", "$.mechanisms[0].joints[1].parent", "go around in a circle: Lower"),
    ("mechanisms.0.joints.1.low", [3.0], "$.mechanisms[0].joints[1].low", "lower limit, 3, above its upper one, 2"),
    ("mechanisms.0.joints.1.low", [], "$.mechanisms[0].joints[1].low", "limits on one side only"),
    ("mechanisms.0.joints.1.rest", [0.0, 1.0], "$.mechanisms[0].joints[1].rest", "1 rates and 2 numbers in rest"),
    ("mechanisms.0.joints.1.damping", [-1.0], "$.mechanisms[0].joints[1].damping", "a damping of -1"),
    ("mechanisms.0.joints.1.motor", {"target": []}, "$.mechanisms[0].joints[1].motor.target", "0 targets for 1"),
    ("mechanisms.0.joints.1.motor", {"target": "arrays/short.npy"}, "$.mechanisms[0].joints[1].motor.target",
     "should have (5, 1)"),
    ("mechanisms.0.joints.1.motor", {"target": [0.0], "mode": {"kind": "steam"}},
     "$.mechanisms[0].joints[1].motor.mode.kind", 'no motor "steam"'),
    ("mechanisms.0.joints.1.motor", {"target": [0.0], "until": 1}, "$.mechanisms[0].joints[1].motor.until",
     "before anything moves"),
    ("mechanisms.0.joints.1.motor", {"target": [0.0], "limit": 0}, "$.mechanisms[0].joints[1].motor.limit",
     "a largest effort of 0"),
    ("mechanisms.0.joints.1.friction", {"mu": -1}, "$.mechanisms[0].joints[1].friction.mu", "a mu of -1"),
    ("mechanisms.0.joints.1.friction", {"mu": 0.1, "points": 4}, "$.mechanisms[0].joints[1].friction.points",
     "touches at 4 points"),
    ("mechanisms.0.loops.0.kind", "knot", "$.mechanisms[0].loops[0].kind", 'no loop "knot"'),
    ("mechanisms.0.loops.0.body_b", "Hand", "$.mechanisms[0].loops[0].body_b", 'holds "Hand" on itself'),
    ("mechanisms.0.loops.0.body_a", "Foot", "$.mechanisms[0].loops[0].body_a", 'names the body "Foot"'),
    ("mechanisms.0.springs.0.body_a", None, "$.mechanisms[0].springs[0].body_b", "both ends of a spring"),
    ("mechanisms.0.springs.0.body_b", "Foot", "$.mechanisms[0].springs[0].body_b", 'names the body "Foot"'),
    ("mechanisms.0.springs.0.stiffness", -5, "$.mechanisms[0].springs[0].stiffness", "a stiffness of -5"),
])
def test_what_is_wrong_is_reported(tmp_path, path, value, where, message):
    job = arm_job(tmp_path)
    load(job)
    change(job, path, value)
    with pytest.raises(BadInput) as refused:
        load(job)
    assert message.lower() in str(refused.value).lower() and refused.value.where == where


@pytest.mark.parametrize(("attach", "where", "message"), [
    ({"mechanism": "Ox", "body": "Upper"}, "mechanism", 'the mechanism "Ox", which is not there'),
    ({"mechanism": "Robot", "body": "Foot"}, "body", 'names the body "Foot"'),
    ({"mechanism": "Robot", "body": "Upper"}, "weights", "either weights or nodes"),
    ({"mechanism": "Robot", "body": "Upper", "nodes": "arrays/many.npy"}, "nodes", "does not fit the 4 nodes"),
])
def test_what_a_soft_body_hangs_on_is_there(tmp_path, attach, where, message):
    job = arm_job(tmp_path, bodies=[{"name": "Flesh", "attach": [attach], "tets": {
        "nodes": "arrays/corners.npy", "tets": "arrays/tet.npy"}}])
    np.save(job / "arrays/tet.npy", np.array([[0, 1, 2, 3]], np.int32))
    np.save(job / "arrays/many.npy", np.array([0, 7], np.int32))
    with pytest.raises(BadInput) as refused:
        load(job)
    assert message.lower() in str(refused.value).lower() and refused.value.where == f"$.bodies[0].attach[0].{where}"


@pytest.mark.parametrize(("path", "value", "word"), [
    ("mechanisms.0.joints.1.stiffness", [3.0], 'joints of "Robot"'),
    ("mechanisms.0.joints.1.motor", {"target": "arrays/target.npy"}, 'joints of "Robot"'),
    ("mechanisms.0.bodies.1.shape", {"kind": "sphere"}, 'rigid bodies of "Robot"'),
    ("mechanisms.0.self_collisions", True, 'self collisions of "Robot"'),
    ("joint_friction", {"kind": "bisp"}, "friction inside joints"),
    ("joint_friction", {"kind": "none"}, None),  # a default that is spelt out
    ("mechanisms.0.bodies.0.shape", {"kind": "box", "params": {"size_x": 0.2}}, None),
])
def test_a_change_is_reported_in_plain_names(tmp_path, path, value, word):
    job = arm_job(tmp_path)
    old = settings(load(job))
    change(job, path, value)
    new = settings(load(job))
    assert list_changes(old.plain(), new.plain()) [:1] == ([word] if word else [])
    assert (hashes(old) == hashes(new)) == (word is None)


def test_samples_of_a_motor_count(tmp_path):
    job = arm_job(tmp_path)
    change(job, "mechanisms.0.joints.1.motor", {"target": "arrays/target.npy"})
    old = settings(load(job))
    np.save(job / "arrays/target.npy", np.ones((5, 1)))
    assert list_changes(old.plain(), settings(load(job)).plain()) == ['joints of "Robot"']


def test_every_field_has_a_stage():
    assert set(Mechanism.__struct_fields__) == set(MECHANISM_READERS)
    assert set(Body.__struct_fields__) <= set(BODY_READERS)


def test_a_cache_from_before_there_were_mechanisms_reports_a_new_one(tmp_path):
    new = settings(load(arm_job(tmp_path))).plain()
    old = {"scene": {key: value for key, value in new["scene"].items() if not key.startswith("joint_friction")},
           "bodies": {}}
    assert 'mechanism "Robot" (new)' in list_changes(old, new)


def test_joints_say_how_many_rates_they_have():
    rates = {key: len(entry.rates) for key, entry in catalogue.family("joint").items()}
    assert rates == {"fixed": 0, "revolute": 1, "prismatic": 1, "universal": 2, "cylindrical": 2, "planar": 3,
                     "spherical": 3, "translational": 3, "free": 6, "free_planar": 3}
