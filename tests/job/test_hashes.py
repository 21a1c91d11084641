"""Each stage's hash depends exactly on the inputs of that stage, and changes are named by plain names."""

import json
import time
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from small_jobs import box_job, change, surface_job

from solver.job import schema
from solver.job.changes import list_changes
from solver.job.hashes import BODY_READERS, FORMAT, SCENE_READERS, STAGES, hashes, is_same_solve, reader, settings
from solver.job.load import load


def of(job):
    return hashes(settings(load(job)))


def stages_changed(before, after, name="Ear") -> list[str]:
    changed = [stage for stage in STAGES[:-1] if before.bodies[name][stage] != after.bodies[name][stage]]
    return changed + ["solve"] * (before.solve != after.solve)


@pytest.mark.parametrize(("path", "value", "first", "word"), [
    ("name", "another", None, None),
    ("bodies.0.fibers", "arrays/weights.npy", None, None),
    ("bodies.0.fiber_field", {"kind": "helix"}, None, None),  # not read without a fiber_material
    ("bodies.0.fiber_material", {"kind": "afung"}, "fields", 'fibers of "Ear"'),
    ("bodies.0.mesher", {"kind": "tetwild", "params": {"edge_length": 0.1}}, "tets", 'Edge Length of "Ear"'),
    ("bodies.0.mesher", {"kind": "tetwild", "params": {"sheet_thickness": 0.1}}, "tets", 'Sheet Thickness of "Ear"'),
    ("bodies.0.mesher", {"kind": "tetwild", "params": {"sheet_thickness": 0}}, None, None),
    ("bodies.0.mesher", {"kind": "grid"}, "tets", 'mesher of "Ear"'),
    ("bodies.0.damping", {"kind": "green"}, "solve", 'damping law of "Ear"'),
    ("bodies.0.damping", {"kind": "rayleigh", "params": {"mass_damping": 2}}, "solve", 'Mass Damping of "Ear"'),
    ("bodies.0.density", 900, "fields", 'density of "Ear"'),
    ("bodies.0.material.params.youngs_modulus", 5e4, "fields", 'Young\'s Modulus of "Ear"'),
    ("bodies.0.pin", {"weights": "arrays/weights.npy"}, "fields", 'pins of "Ear"'),
    ("bodies.0.painted", {"density": {"low": 1, "high": 2, "weights": "arrays/weights.npy"}}, "fields",
     'paint of density of "Ear"'),
    ("bodies.0.surface.to_object", "arrays/matrices.npy", "solve", 'motion of "Ear"'),
    ("time.step", 1 / 48, "solve", "step"),
    ("time.fps", 25, "solve", "frame rate"),
    ("time.tolerance", 1e-3, "solve", "accuracy"),
    ("method.params.beta", 1.0, "solve", "Damping"),
    ("gravity", [0, 0, 0], "solve", "gravity"),
    ("bodies.0.cuts", [{"frame": 1, "kind": "plane", "point": [0, 0, 0.2], "normal": [0, 0, 1]}], "solve",
     'cuts of "Ear"'),
    ("ground", {"point": [0, 0, 0], "normal": [0, 0, 1]}, "solve", "ground"),
    ("ground", {"point": [0, 0, 0], "normal": [0, 0, 1], "friction": {"kind": "filter"}}, "solve", "friction"),
])
def test_a_setting_changes_the_stage_that_reads_it_and_those_below(tmp_path, path, value, first, word):
    job = surface_job(tmp_path, material={"kind": "stable_neo_hookean", "params": {}})
    change(job, "method", {"kind": "conjac", "params": {}})
    np.save(job / "arrays/matrices.npy", np.tile(np.eye(4), (2, 1, 1)))
    old, before = settings(load(job)).plain(), of(job)
    change(job, path, value)
    assert stages_changed(before, of(job)) == list(STAGES[STAGES.index(first):] if first else ())
    names = list_changes(old, settings(load(job)).plain())
    assert word in names if word else names == []


@pytest.mark.parametrize(("path", "value", "first", "word"), [
    ("bodies.0.fiber_material.params", {"fiber_modulus": 2e5}, "fields", 'Fiber Modulus of "Ear"'),
    ("bodies.0.fiber_field", {"kind": "straight"}, "fields", 'direction of the fibers of "Ear"'),
    ("bodies.0.fiber_field.params", {"fiber_angle": 0.5}, "fields", 'Fiber Angle of "Ear"'),
    ("bodies.0.fibers", "arrays/weights.npy", "fields", 'paint of fibers of "Ear"'),
    ("bodies.0.fiber_vectors", "arrays/vertices.npy", "fields", 'direction of the fibers of "Ear"'),
    ("bodies.0.fiber_activation", "arrays/active.npy", "fields", 'activation of "Ear"'),  # its number goes
    ("bodies.0.painted", {"fiber_modulus": {"low": 1e3, "high": 1e5, "weights": "arrays/weights.npy"}}, "fields",
     'paint of fiber modulus of "Ear"'),
])
def test_what_fibers_read(tmp_path, path, value, first, word):
    job = surface_job(tmp_path, fiber_material={"kind": "afung", "params": {}}, fiber_field={"kind": "helix"})
    np.save(job / "arrays/active.npy", np.array([0.0, 0.5, 1.0]))
    old, before = settings(load(job)).plain(), of(job)
    change(job, path, value)
    assert stages_changed(before, of(job)) == list(STAGES[STAGES.index(first):])
    assert word in list_changes(old, settings(load(job)).plain())


def test_the_number_that_samples_of_activation_replace_is_not_read(tmp_path):
    job = surface_job(tmp_path, fiber_material={"kind": "afung", "params": {}}, fiber_field={"kind": "helix"},
                      fiber_activation="arrays/active.npy")
    np.save(job / "arrays/active.npy", np.array([0.0, 0.5, 1.0]))
    before = of(job)
    change(job, "bodies.0.fiber_material.params", {"activation": 0.3})
    assert stages_changed(before, of(job)) == []


def test_a_default_that_is_spelt_out_changes_nothing(tmp_path):
    job = surface_job(tmp_path)
    before = of(job)
    change(job, "method", {"kind": "conjac", "params": {"beta": 0.5, "quasistatic_start": False}})
    change(job, "gravity", [0, 0, -9.81])
    change(job, "bodies.0.density", 1000)
    assert stages_changed(before, of(job)) == []


@pytest.mark.parametrize(("array", "first", "word"), [("vertices", "mesh", 'mesh of "Ear"'),
                                                      ("weights", "fields", 'pins of "Ear"')])
def test_the_content_of_an_array_counts(tmp_path, array, first, word):
    job = surface_job(tmp_path, pin={"weights": "arrays/weights.npy"})
    old, before = settings(load(job)).plain(), of(job)
    values = np.load(job / f"arrays/{array}.npy")
    values.flat[1] = 0.25
    np.save(job / f"arrays/{array}.npy", values)
    assert stages_changed(before, of(job)) == list(STAGES[STAGES.index(first):])
    assert list_changes(old, settings(load(job)).plain()) == [word]


def test_what_is_not_read_is_not_hashed(tmp_path):
    """The mesher of a given volume, the inward extension of maps that do not exist, and a number that paint replaces
    are left out."""
    job = box_job(tmp_path / "given")
    before = of(job)
    change(job, "bodies.0.mesher", {"kind": "grid"})
    change(job, "bodies.0.carry", {"kind": "straight"})
    assert stages_changed(before, of(job)) == []
    job = surface_job(tmp_path / "painted", painted={
        "youngs_modulus": {"low": 1e4, "high": 1e5, "weights": "arrays/weights.npy"}})
    before = of(job)
    change(job, "bodies.0.material", {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 7e4}})
    assert stages_changed(before, of(job)) == []
    change(job, "bodies.0.carry", {"kind": "straight"})
    assert stages_changed(before, of(job)) != []


@pytest.mark.parametrize("method", ["vanilla", "conjac"])
def test_how_spots_move_is_read_where_others_follow_them(tmp_path, method):
    job = surface_job(tmp_path, dynamic={"weights": "arrays/weights.npy"})
    change(job, "method", {"kind": method, "params": {}})
    before = of(job)
    change(job, "bodies.0.spot", {"kind": "mean", "params": {"spot_radius": 0.2}})
    assert bool(stages_changed(before, of(job))) == (method == "conjac")


@pytest.mark.parametrize("own", [False, True])
def test_a_cache_with_motions_of_spots_that_nothing_follows_is_still_valid(tmp_path, own):
    """Versions until 0.1 hashed these motions. own: the body has its own method."""
    job = surface_job(tmp_path, dynamic={"weights": "arrays/weights.npy"})
    change(job, "method", {"kind": "conjac" if own else "vanilla", "params": {}})
    if own:
        change(job, "bodies.0.method", {"kind": "vanilla", "params": {}})
    read = settings(load(job))
    old = replace(read, bodies={"Ear": {**read.bodies["Ear"], "spot.kind": "mean"}})
    manifest = {"settings": old.plain(), "hashes": hashes(old).plain(), "end": read.scene["time.end"],
                "sources": {name: {"digest": digest} for name, digest in read.digests.items()}}
    assert hashes(old).solve != hashes(read).solve and is_same_solve(manifest, read)
    change(job, "bodies.0.density", 900.0)
    assert not is_same_solve(manifest, settings(load(job)))


def test_bodies_that_come_and_go_are_named(tmp_path):
    job = surface_job(tmp_path)
    old = settings(load(job)).plain()
    change(job, "bodies.0.name", "Nose")
    assert list_changes(old, settings(load(job)).plain()) == ['body "Nose" (new)', 'body "Ear" (gone)']
    change(job, "bodies.0.uuid", "1234")
    old["bodies"]["Ear"]["uuid"] = "1234"
    change(job, "bodies.0.density", 900.0)
    assert list_changes(old, settings(load(job)).plain()) == ['density of "Nose"']


def with_another(job):
    """Return a copy of the job with a second body like its first, named Nose."""
    scene = json.loads((job / "scene.json").read_text())
    change(job, "bodies", [scene["bodies"][0], scene["bodies"][0] | {"name": "Nose", "uuid": "2"}])
    return settings(load(job)).plain()


def test_one_of_several_that_has_another_name_is_known_by_its_uuid(tmp_path):
    job = surface_job(tmp_path, uuid="1")
    old = with_another(job)
    change(job, "bodies.1.name", "Chin")
    change(job, "bodies.1.density", 900.0)
    assert list_changes(old, settings(load(job)).plain()) == ['density of "Chin"']


def test_a_new_body_is_listed_without_the_settings_that_only_several_have(tmp_path):
    job = surface_job(tmp_path, uuid="1")
    old = settings(load(job)).plain()
    change(job, "contact", {})
    change(job, "integrator", {"kind": "backward_euler"})
    change(job, "bodies.0.touches", ["Ear", "Nose"])
    change(job, "bodies.0.friction", 0.2)
    assert list_changes(old, with_another(job)) == ["integrator", 'body "Nose" (new)']


def test_a_parameter_that_came_is_no_difference_from_an_older_cache(tmp_path):
    job = surface_job(tmp_path)
    new = settings(load(job)).plain()
    old = {**new, "scene": {key: value for key, value in new["scene"].items() if key != "method.settle_time"}}
    assert len(old["scene"]) == len(new["scene"]) - 1 and list_changes(old, new) == []
    change(job, "method", {"kind": "conjac", "params": {"settle_time": 0.1}})
    assert list_changes(old, settings(load(job)).plain()) == ["Settle Time"]


def test_a_field_that_went_is_no_difference_from_an_older_cache(tmp_path):
    job = load(surface_job(tmp_path))
    old = settings(job).plain()
    old["scene"]["seed"] = 0
    assert list_changes(old, settings(job).plain()) == []


def test_every_field_of_the_schema_has_its_stage():
    for struct, readers in ((schema.Scene, SCENE_READERS), (schema.Body, BODY_READERS)):
        names = {field.name for field in msgspec.structs.fields(struct)} - {"bodies", "mechanisms"}
        assert {name: reader(name, readers) for name in names}.keys() == names
        assert set(readers.values()) <= {*STAGES, ""}


def test_what_changed_of_thousands_of_springs_is_listed_at_once():
    def plain(count, stiffness):
        springs = {f"springs.{k}.{key}": stiffness for k in range(count) for key in ("stiffness", "damping")}
        return {"scene": {}, "bodies": {}, "mechanisms": {"Chain": springs}}

    took = []
    for count in (500, 4000):
        old, new, times = plain(count, 1.0), plain(count, 2.0), []
        for _ in range(5):
            start = time.process_time()
            assert list_changes(old, new) == ['springs of "Chain"']
            times.append(time.process_time() - start)
        took.append(min(times))
    assert took[1] < 24 * took[0]  # eight times as many; all names beside each name would take 64 times as long


def test_tetrahedra_of_before_near_parts_were_led_apart_are_made_anew(tmp_path, monkeypatch):
    """Such tetrahedra join fingers, and a cache folder stores them under the hash of their stage."""
    job = surface_job(tmp_path)
    now = of(job)
    monkeypatch.setitem(FORMAT, "tets", 1)
    assert stages_changed(of(job), now) == ["tets", "fields", "solve"]
