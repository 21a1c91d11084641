"""Faults that only meshing and the fields find are reported as the job's reader reports others: one sentence that names
the body and ends with the path of a field that is there."""

import json
import re

import numpy as np
import pytest
from small_jobs import box_job, box_tets, change
from worlds import nodes_of

from solver import cli, simulate
from solver.errors import BadInput, BadMesh, BadScene, ConJacError, MesherFailed, NoFreeNode
from solver.job.folder import blame
from solver.job.load import load
from solver.meshing.volume import boundary_faces

NODES, TETS = box_tets()
INDEX = np.int32
SKIN = "arrays/triangles.npy"


@pytest.fixture()
def job(tmp_path):
    """A body of given tetrahedra with its skin as the painted surface, beside a second, plain one."""
    job = box_job(tmp_path, name="Plain", end=2, motion=False)
    used, corners = np.unique(boundary_faces(TETS)[0], return_inverse=True)
    save(job, vertices=NODES[used], triangles=corners.reshape(-1, 3).astype(INDEX), all=np.ones(len(used)),
         left=(NODES[used][:, 0] < 0.01).astype(float), far=np.array([np.argmax(NODES[:, 0])], INDEX))
    bodies = json.loads((job / "scene.json").read_text())["bodies"]
    surface = {"vertices": "arrays/vertices.npy", "triangles": SKIN}
    change(job, "bodies", [*bodies, {"name": "Ear", "surface": surface, "tets": bodies[0]["tets"],
                                     "pin": {"weights": "arrays/left.npy"}}])
    return job


def save(job, **arrays):
    for name, array in arrays.items():
        np.save(job / f"arrays/{name}.npy", array)


def field_at(job, path):
    """The value in scene.json at `$.bodies[1].pin`; fails where there is none."""
    value = json.loads((job / "scene.json").read_text())
    for key, number in re.findall(r"\.(\w+)|\[(\d+)\]", path.removeprefix("$")):
        value = value[key] if key else value[int(number)]
    return value


def meshed(job, mesher, vertices=None, triangles=None):
    """The second body without its tetrahedra."""
    body = field_at(job, "$.bodies[1]")
    change(job, "bodies.1", {"name": "Ear", "surface": body["surface"], "mesher": mesher})
    skin = np.load(job / "arrays/vertices.npy"), np.load(job / SKIN)
    save(job, vertices=skin[0] if vertices is None else vertices(skin[0]),
         triangles=skin[1] if triangles is None else triangles(skin[1]))


BAD = {
    "every node painted as pinned": (
        lambda job: change(job, "bodies.1.pin.weights", "arrays/all.npy"), "pin.weights", NoFreeNode, "every node"),
    "every node listed as pinned": (
        lambda job: (save(job, every=np.arange(len(NODES), dtype=INDEX)),
                     change(job, "bodies.1.pin", {"nodes": "arrays/every.npy"})),
        "pin.nodes", NoFreeNode, "every node"),
    "a listed dynamic node under the paint of the pins": (
        lambda job: (save(job, near=np.array([np.argmin(NODES[:, 0])], INDEX)),
                     change(job, "bodies.1.dynamic", {"nodes": "arrays/near.npy"})),
        "dynamic.nodes", BadScene, "both dynamic and pinned"),
    "all at one place": (
        lambda job: meshed(job, {"kind": "grid"}, lambda x: 0 * x), "surface", BadMesh, "the same place"),
    "no area": (
        lambda job: meshed(job, {"kind": "grid"}, lambda x: x * [1, 0, 0]), "surface", BadMesh, "no area"),
    "flat": (
        lambda job: meshed(job, {"kind": "tetwild"}, lambda x: x * [1, 1, 0]), "surface", BadMesh, "flat"),
    "no box for the grid": (
        lambda job: meshed(job, {"kind": "grid"}, lambda x: x + 3 * x[:, [1, 2, 0]] * x), "surface", BadMesh, "box"),
    "open for TetGen": (
        lambda job: meshed(job, {"kind": "tetgen"}, triangles=lambda t: t[1:]), "surface", BadMesh, "not closed"),
    "too fine for the grid": (
        lambda job: meshed(job, {"kind": "grid", "params": {"edge_length": 8e-5}}, lambda x: x * [1, 1, 1e-4]),
        "mesher.params.edge_length", BadMesh, "larger"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_meshing_and_fields_refuse_ends_with_the_path(job, case):
    spoil, part, kind, message = BAD[case]
    spoil(job)
    loaded = load(job)  # nothing of it can be seen before
    with pytest.raises(ConJacError) as caught:
        nodes_of(loaded)
    text, path = str(caught.value), f"$.bodies[1].{part}"
    assert type(caught.value) is kind and caught.value.exit_code == 2
    assert text.startswith('"Ear": ') and message in text and text.endswith(f" - at `{path}`.")
    assert field_at(job, path)


def test_an_edge_far_too_short_is_refused_before_anything_is_meshed(job):
    meshed(job, {"kind": "tetwild", "params": {"edge_length": 1e-6}})
    with pytest.raises(BadScene, match=r'^"Ear": .*smaller than the body.*larger.*mesher.params.edge_length'):
        load(job)


def test_a_command_says_it_so_too(job, capfdbinary):
    change(job, "bodies.1.pin.weights", "arrays/all.npy")
    assert cli.main(["bake", str(job), "--json"], read_stdin=False) == 2
    event = json.loads(capfdbinary.readouterr().out.splitlines()[-2])
    assert event["where"] == "$.bodies[1].pin.weights" and event["object"] == "Ear"
    assert event["text"].endswith("- at `$.bodies[1].pin.weights`.")


def test_frames_that_the_scene_does_not_have_point_at_its_time(job):
    with pytest.raises(BadInput, match=r"1 to 9 were asked for.* - at `\$.time`\.$"):
        simulate.select_frames(load(job), (1, 9))


def test_what_is_not_the_jobs_fault_gets_a_name_and_no_path(job):
    scene = load(job).scene
    with pytest.raises(MesherFailed, match=r'^"Ear": the mesher broke\.$'), blame(scene, scene.bodies[1], "surface"):
        raise MesherFailed("the mesher broke")
