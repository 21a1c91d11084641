"""A job folder is read and checked to the field: what is wrong is reported in one sentence that ends with its path."""

import json

import numpy as np
import pytest
from small_jobs import box_job, change, surface_job

from solver import catalogue
from solver.errors import BadInput, BadMesh, BadScene, NoSuchThing
from solver.job.folder import LARGE, parameters
from solver.job.load import load


def refused(job, path: str, kind=BadScene) -> str:
    """Return the sentence of the refusal, after checking that it ends with this field's path."""
    with pytest.raises(BadInput) as caught:
        load(job)
    assert type(caught.value) is kind, caught.value
    assert str(caught.value).rstrip(".").endswith(f"`{path}`"), str(caught.value)
    return str(caught.value)


def test_a_job_written_by_hand_loads(tmp_path):
    job = load(box_job(tmp_path / "hand made", name="Ohr ß/耳 ..", end=5))
    body = job.scene.bodies[0]
    assert body.name == "Ohr ß/耳 .." and job.frames == range(1, 6) and job.samples == 9
    assert job.array(body.tets.nodes).shape == (45, 3) and job.array(body.tets.tets).shape == (96, 4)
    assert job.array(body.pin.node_motion).shape == (9, 9, 3)
    assert job.array(body.tets.nodes).dtype == np.float64 and job.array(body.tets.tets).dtype == np.int32
    assert not job.array(body.tets.nodes).flags.writeable


def test_parameters_take_the_defaults_of_the_catalogue(tmp_path):
    scene = load(box_job(tmp_path)).scene
    entry = catalogue.find("method", "conjac")
    assert parameters("method", scene.method) == {param.key: param.default for param in entry.params}
    assert parameters("material", scene.bodies[0].material)["youngs_modulus"] == 2e4


def test_other_number_types_are_carried_over(tmp_path):
    job = box_job(tmp_path, motion=False)
    nodes, tets = (np.load(job / f"arrays/{name}.npy") for name in ("nodes", "tets"))
    np.save(job / "arrays/nodes.npy", np.asfortranarray(nodes.astype(np.float32)))
    np.save(job / "arrays/tets.npy", tets.astype(np.int64))
    loaded = load(job)
    assert loaded.array("arrays/nodes.npy").dtype == np.float64 and loaded.array("arrays/nodes.npy").flags.c_contiguous
    assert np.array_equal(loaded.array("arrays/nodes.npy"), nodes.astype(np.float32))
    assert loaded.array("arrays/tets.npy").dtype == np.int32


def test_a_large_array_stays_in_its_file(tmp_path):
    job = surface_job(tmp_path)
    count = LARGE // 24 + 1
    np.save(job / "arrays/vertices.npy", np.zeros((count, 3)))
    array = load(job).array("arrays/vertices.npy")
    assert isinstance(array.base, np.memmap) and array.shape == (count, 3) and not array.flags.writeable
    spoilt = np.load(job / "arrays/vertices.npy")
    spoilt[-1, 2] = np.nan
    np.save(job / "arrays/vertices.npy", spoilt)
    assert "not finite" in refused(job, "$.bodies[0].surface.vertices")


@pytest.mark.parametrize(("path", "value", "where", "message"), [
    ("time.fps", -24, "$.time.fps", "> 0.0"),
    ("time.fps", "24", "$.time.fps", "`float`"),
    ("time.stop", 3, "$.time", "unknown field `stop`"),
    ("time.end", 0, "$.time.end", "is before the first"),
    ("time.step", 1e-12, "$.time.step", "steps per frame"),
    ("time.snapshot_every", 11, "$.time.snapshot_every", "<= 10"),
    ("version", 2, "$.version", "version 2"),
    ("version", None, "$.version", "version None"),
    ("bodies", [], "$.bodies", "neither soft bodies nor mechanisms"),
    ("method", {"kind": "magic"}, "$.method.kind", "conjac"),
    ("method", {"kind": "conjac", "params": {"betta": 1}}, "$.method.params.betta", "It has beta"),
    ("method", {"kind": "conjac", "params": {"gamma": 1.5}}, "$.method.params.gamma", "above 1"),
    ("method", {"kind": "conjac", "params": {"beta": True}}, "$.method.params.beta", "a number"),
    ("method", {"kind": "conjac", "params": {"quasistatic_start": 1}}, "$.method.params.quasistatic_start", "true or"),
    ("integrator", {"kind": "rk4"}, "$.integrator.kind", "semi_implicit"),
    ("linear_solver", "pardiso", "$.linear_solver", "cholmod"),
    ("gravity", [0, 0], "$.gravity", "length 3"),
    ("gravity", [0, 0, -1e31], "$.gravity", "-1e+31 is beyond"),
    ("ground", {"point": [0, 1e31, 0], "normal": [0, 0, 1]}, "$.ground.point", "beyond"),
    ("ground", {"point": [0, 0, 0], "normal": [0, 0, 1e31]}, "$.ground.normal", "beyond"),
    ("ground", {"point": [0, 0, 0], "normal": [0, 0, 0]}, "$.ground.normal", "no direction"),
    ("ground", {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": {"kind": "glue"}}, "$.ground.friction.kind",
     'no friction "glue"'),
    ("ground", {"point": [0, 0, 0], "normal": [0, 0, 1],
                "friction": {"kind": "coulomb", "params": {"friction_coefficient": -1}}},
     "$.ground.friction.params.friction_coefficient", "cannot be below 0"),
    ("ground", {"point": [0, 0, 0], "normal": [0, 0, 1], "motion": "arrays/two.npy"},
     "$.ground.motion", "whole numbers"),
    ("bodies.0.material", 3, "$.bodies[0].material", "`object`"),
    ("bodies.0.material", {"kind": "jelly"}, "$.bodies[0].material.kind", "stable_neo_hookean"),
    ("bodies.0.material", {"kind": "stable_neo_hookean", "params": {"poisson_ratio": 0.5}},
     "$.bodies[0].material.params.poisson_ratio", "above 0.4999"),
    ("bodies.0.mesher", {"kind": "grid", "params": {"edge_length": -1}},
     "$.bodies[0].mesher.params.edge_length", "below"),
    ("bodies.0.damping", {"kind": "rayleigh", "params": {"mass_damping": -1}},
     "$.bodies[0].damping.params.mass_damping", "below"),
    ("bodies.0.fiber_material", {"kind": "sinew"}, "$.bodies[0].fiber_material.kind", "astvk"),
    ("bodies.0.fiber_material", {"kind": "afung", "params": {"activation": 1.5}},
     "$.bodies[0].fiber_material.params.activation", "above 1"),
    ("bodies.0.fiber_vectors", "arrays/weights.npy", "$.bodies[0].fiber_vectors", "(4, 3)"),
    ("bodies.0.fiber_curves", "arrays/vertices.npy", "$.bodies[0].fiber_curves", "(any, 2, 3)"),
    ("bodies.0.fiber_activation", "arrays/weights.npy", "$.bodies[0].fiber_activation", "cannot be activated"),
    ("bodies.0.painted", {"fiber_modulus": {"low": 1, "high": 2, "weights": "arrays/weights.npy"}},
     "$.bodies[0].painted.fiber_modulus", "youngs_modulus"),
    ("bodies.0.density", 0, "$.bodies[0].density", "> 0.0"),
    ("bodies.0.name", "", "$.bodies[0].name", "no name"),
    ("bodies.0.surface", None, "$.bodies[0].surface", "neither"),
    ("bodies.0.surface.vertices", "../vertices.npy", "$.bodies[0].surface.vertices", "inside the job folder"),
    ("bodies.0.surface.vertices", "arrays/../../v.npy", "$.bodies[0].surface.vertices", "inside the job folder"),
    ("bodies.0.surface.vertices", "/etc/v.npy", "$.bodies[0].surface.vertices", "matching regex"),
    ("bodies.0.surface.vertices", "C:/v.npy", "$.bodies[0].surface.vertices", "matching regex"),
    ("bodies.0.surface.vertices", "arrays/two.npy", "$.bodies[0].surface.vertices", "whole numbers"),
    ("bodies.0.surface.triangles", "arrays/vertices.npy", "$.bodies[0].surface.triangles", "fractions"),
    ("bodies.0.surface.to_object", "arrays/motion.npy", "$.bodies[0].surface.to_object", "(2, 4, 4)"),
    ("bodies.0.painted", {"youngs": {"low": 1, "high": 2, "weights": "arrays/weights.npy"}},
     "$.bodies[0].painted.youngs", "youngs_modulus"),
    ("bodies.0.painted", {"density": {"low": 0, "high": 2, "weights": "arrays/weights.npy"}},
     "$.bodies[0].painted.density.low", "below"),
    ("bodies.0.painted", {"density": {"low": 1, "high": 2, "weights": "arrays/motion.npy"}},
     "$.bodies[0].painted.density.weights", "(4)"),
    ("bodies.0.dynamic.nodes", "arrays/two.npy", "$.bodies[0].dynamic.nodes", "given by hand"),
    ("bodies.0.dynamic.points", "arrays/weights.npy", "$.bodies[0].dynamic.points", "(any, 3)"),
    ("bodies.0.pin.motion", "arrays/motion.npy", "$.bodies[0].pin.motion_vertices", "needs its vertices"),
    ("bodies.0.pin.node_motion", "arrays/motion.npy", "$.bodies[0].pin.nodes", "needs its nodes"),
])
def test_what_does_not_fit_is_refused_with_its_path(tmp_path, path, value, where, message):
    job = surface_job(tmp_path)
    change(job, path, value)
    assert message in refused(job, where)


@pytest.mark.parametrize(("samples", "message"), [([0.0, 0.5], "(3)"), ([0.0, 1.5, 1.0], "lies in [0, 1]")])
def test_activation_over_time_has_a_number_in_its_range_for_each_sample(tmp_path, samples, message):
    job = surface_job(tmp_path, fiber_material={"kind": "afung"}, fiber_activation="arrays/active.npy")
    np.save(job / "arrays/active.npy", np.array(samples))
    assert message in refused(job, "$.bodies[0].fiber_activation")


def test_the_body_is_named(tmp_path):
    job = surface_job(tmp_path)
    change(job, "bodies.0.painted", {"density": {"low": 0, "high": 2, "weights": "arrays/weights.npy"}})
    assert refused(job, "$.bodies[0].painted.density.low").startswith('"Ear": ')


def test_a_missing_array_is_named(tmp_path):
    job = surface_job(tmp_path)
    (job / "arrays/triangles.npy").unlink()
    assert "triangles.npy" in refused(job, "$.bodies[0].surface.triangles", NoSuchThing)


@pytest.mark.parametrize("content", [b"", b"not an array", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'"])
def test_a_damaged_array_is_refused(tmp_path, content):
    job = surface_job(tmp_path)
    (job / "arrays/vertices.npy").write_bytes(content)
    assert "not a .npy file" in refused(job, "$.bodies[0].surface.vertices")


@pytest.mark.parametrize(("number", "message"), [(np.nan, "not finite"), (np.inf, "not finite"),
                                                 (-2e30, "beyond 1e+30")])
def test_numbers_that_nothing_can_be_computed_with_are_refused(tmp_path, number, message):
    job = surface_job(tmp_path)
    vertices = np.load(job / "arrays/vertices.npy")
    vertices[2, 1] = number
    np.save(job / "arrays/vertices.npy", vertices)
    assert message in refused(job, "$.bodies[0].surface.vertices")


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([1j]), np.array([True])])
def test_only_plain_numbers_are_read(tmp_path, array):
    job = surface_job(tmp_path)
    np.save(job / "arrays/vertices.npy", array)
    assert "plain numbers" in refused(job, "$.bodies[0].surface.vertices")


def test_a_pickled_array_is_never_opened(tmp_path):
    job = surface_job(tmp_path)
    np.save(job / "arrays/vertices.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert "not a .npy file" in refused(job, "$.bodies[0].surface.vertices")


@pytest.mark.parametrize(("array", "message"), [(np.array([[0, 1, 4]], np.int32), "4 vertices"),
                                                (np.array([[0, 1, -1]], np.int32), "4 vertices"),
                                                (np.array([[0, 1, 2**40]], np.int64), "32 bits")])
def test_indices_must_fit(tmp_path, array, message):
    job = surface_job(tmp_path)
    np.save(job / "arrays/triangles.npy", array)
    assert message in refused(job, "$.bodies[0].surface.triangles")


def test_an_empty_mesh_is_refused_by_name(tmp_path):
    job = surface_job(tmp_path)
    np.save(job / "arrays/triangles.npy", np.zeros((0, 3), np.int32))
    assert refused(job, "$.bodies[0].surface", BadMesh).startswith('"Ear": the mesh has no face')


def test_weights_lie_between_0_and_1(tmp_path):
    job = surface_job(tmp_path, pin={"weights": "arrays/weights.npy"})
    load(job)
    np.save(job / "arrays/weights.npy", np.array([0, 0.5, 1, 1.5]))
    assert "1.5" in refused(job, "$.bodies[0].pin.weights")


def test_a_motion_has_a_sample_for_every_time(tmp_path):
    pin = {"weights": "arrays/weights.npy", "motion": "arrays/motion.npy", "motion_vertices": "arrays/two.npy"}
    job = surface_job(tmp_path, pin=pin)
    load(job)
    np.save(job / "arrays/motion.npy", np.zeros((4, 2, 3)))
    assert "(3, 2, 3)" in refused(job, "$.bodies[0].pin.motion")


def test_flat_tetrahedra_are_refused(tmp_path):
    job = box_job(tmp_path, motion=False)
    tets = np.load(job / "arrays/tets.npy")
    tets[0] = tets[0, [0, 1, 3, 2]]  # turned inside out: the world turns it back
    np.save(job / "arrays/tets.npy", tets)
    load(job)
    tets[:2, 3] = tets[:2, 2]
    np.save(job / "arrays/tets.npy", tets)
    assert "2 of 96 tetrahedra" in refused(job, "$.bodies[0].tets.tets", BadMesh)


def test_a_node_of_no_tetrahedron_is_refused(tmp_path):
    """A node without elements has no mass, and the step would fail on it."""
    job = box_job(tmp_path, motion=False)
    nodes = np.load(job / "arrays/nodes.npy")
    np.save(job / "arrays/nodes.npy", np.concatenate([nodes, [[9.0, 9.0, 9.0]]]))
    assert "1 nodes belong to no tetrahedron, the first is 45" in refused(job, "$.bodies[0].tets.nodes", BadMesh)


def test_a_node_cannot_be_dynamic_and_pinned(tmp_path):
    job = box_job(tmp_path, motion=False)
    pinned = np.load(job / "arrays/pinned.npy")
    np.save(job / "arrays/dynamic.npy", np.array([44, pinned[2]], np.int32))
    assert f"node {pinned[2]} is both" in refused(job, "$.bodies[0].dynamic.nodes")


def test_two_bodies_need_two_names(tmp_path):
    job = surface_job(tmp_path)
    bodies = json.loads((job / "scene.json").read_text())["bodies"]
    change(job, "bodies", bodies * 2)
    assert 'called "Ear"' in refused(job, "$.bodies[1].name")


@pytest.mark.parametrize("text", ["", "[1]", '{"version": NaN}', '{"version": 1', "\udce4"])
def test_a_broken_scene_file_is_refused(tmp_path, text):
    (tmp_path / "scene.json").write_text(text, encoding="utf-8", errors="surrogateescape")
    refused(tmp_path, "$")


def test_a_missing_job_is_reported(tmp_path):
    with pytest.raises(NoSuchThing, match=r"there is no .*scene\.json|There is no .*scene\.json"):
        load(tmp_path / "nothing")


@pytest.mark.parametrize(("integrator", "method", "works"), [
    ("semi_implicit", "conjac", True), ("ssdirk2", "conjac", True), ("bdf2", "vanilla", True),
    ("str_bdf2", "conjac", False), ("siere", "vanilla", False), ("quasistatic", "vanilla", False)])
def test_friction_needs_an_integrator_that_knows_it(tmp_path, integrator, method, works):
    job = surface_job(tmp_path)
    for path, value in (("method", {"kind": method}), ("integrator", {"kind": integrator}),
                        ("ground", {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": {"kind": "coulomb"}})):
        change(job, path, value)
    if works:
        assert load(job).scene.ground.friction.kind == "coulomb"
    else:
        assert "has no friction. Use Semi-Implicit Euler, " in refused(job, "$.ground.friction")


def test_half_lives_over_time_are_none_below_nothing(tmp_path):
    job = surface_job(tmp_path, wobble_half_life="arrays/halves.npy")
    np.save(job / "arrays/halves.npy", np.array([0.5, 0.0, 0.5]))
    load(job)
    np.save(job / "arrays/halves.npy", np.array([0.5, -0.1, 0.5]))
    assert "-0.1 s makes wobbles grow" in refused(job, "$.bodies[0].wobble_half_life")
