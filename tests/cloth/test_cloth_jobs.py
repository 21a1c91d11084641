"""Cloth as a body of a job: errors with a sentence, output, and the same result after a stop and resume."""

import json

import numpy as np
import pytest
from cloth_jobs import Quiet, cloth_body, cloth_job, part_of, places, square, stepped
from matrix import some
from sheets import grid
from small_jobs import box_tets, change

from solver.errors import BadInput, BadMesh, BadScene, NoFreeNode
from solver.frames.read import Cache
from solver.job import hashes
from solver.job.changes import list_changes
from solver.job.estimate import estimate
from solver.job.load import load
from solver.simulate import bake


def refused(job, kind, *words):
    with pytest.raises(kind) as refusal:
        part_of(job)
    assert '"Cloth"' in str(refusal.value), refusal.value
    for word in words:
        assert word in str(refusal.value), refusal.value


def of_mesh(folder, vertices, triangles, **body):
    arrays = {}
    return cloth_job(folder, [cloth_body("Cloth", np.asarray(vertices, float), triangles, arrays, **body)], arrays)


def test_edges_of_three_faces_are_refused(tmp_path):
    fin = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]]
    refused(of_mesh(tmp_path / "job", fin, [[0, 1, 2], [0, 1, 3], [0, 1, 4]]), BadMesh,
            "more than two faces", "0.5, 0, 0")


def test_faces_without_area_are_refused(tmp_path):
    refused(of_mesh(tmp_path / "job", [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]], [[0, 1, 3], [0, 1, 2]]), BadMesh,
            "no area", "triangle 1", "Degenerate Dissolve")


def test_meshes_without_vertices_or_faces_are_refused(tmp_path):
    empty = np.zeros((0, 3), np.int32)
    refused(of_mesh(tmp_path / "a", np.zeros((0, 3)), empty), BadMesh, "no vertex")
    refused(of_mesh(tmp_path / "b", [[0, 0, 0], [1, 0, 0]], empty), BadMesh, "no face")


def test_uv_maps_that_are_flat_or_overlap_are_refused(tmp_path):
    vertices, triangles = grid(3, 3, 1.0, 1.0)
    uv = vertices[:, :2][triangles]
    flat = uv.copy()
    flat[4, :, 1] = 0.3
    refused(of_mesh(tmp_path / "a", vertices, triangles, uv=flat), BadMesh, "no area in the UV map", "triangle 4")
    folded = uv.copy()
    folded[:, :, 0] = np.abs(folded[:, :, 0] - 1 / 3)
    refused(of_mesh(tmp_path / "b", vertices, triangles, uv=folded), BadMesh, "overlap in the UV map")
    # one face far from its neighbours' size lies over many
    large = uv.copy()
    large[0] = [[-1, -1], [3, -1], [-1, 3]]
    refused(of_mesh(tmp_path / "c", vertices, triangles, uv=large), BadMesh, "overlap in the UV map")
    # islands that lie apart, however they are turned, are no harm
    apart = uv.copy()
    apart[9:] = apart[9:, :, ::-1] + [2.0, 0.0]
    part_of(of_mesh(tmp_path / "d", vertices, triangles, uv=apart))


@pytest.mark.parametrize(("field", "value", "word"), [
    ("method", {"kind": "conjac"}, "move on their own"), ("painted", None, "painted maps"),
    ("damping", {"kind": "green"}, "Green"), ("cuts", [{"frame": 1, "kind": "plane", "point": [0, 0, 0],
                                                        "normal": [1, 0, 0]}], "cuts"),
    ("cloth", {"warp": [0, 0, 0]}, "no direction"), ("cloth", {"membrane": {"kind": "steel"}}, "steel"),
    ("cloth", {"bending": {"kind": "quadratic_bending", "params": {"bending_stiffness": -1}}}, "Bending Stiffness")])
def test_what_does_not_go_with_cloth_is_refused(tmp_path, field, value, word):
    job = square(tmp_path / "job", cells=2)
    if value is None:
        np.save(job / "arrays" / "ones.npy", np.ones(9))
        value = {"density": {"low": 1.0, "high": 2.0, "weights": "arrays/ones.npy"}}
    change(job, f"bodies.0.{field}", value)
    with pytest.raises(BadInput, match=word):
        part_of(job)


def test_cloth_that_is_all_pinned_is_refused(tmp_path):
    refused(square(tmp_path / "job", cells=2, pinned=np.arange(9)), NoFreeNode, "every vertex")


def test_numbers_of_cloth_are_checked(tmp_path):
    with pytest.raises(BadScene, match="area_density"):
        part_of(square(tmp_path / "job", cells=2, area_density=0.0))


def test_vertices_of_no_face_stay_where_they_are(tmp_path):
    vertices, triangles = grid(3, 3, 0.3, 0.3)
    vertices = np.concatenate([[[9.0, 9.0, 9.0]], vertices])
    part = part_of(of_mesh(tmp_path / "job", vertices, triangles + 1))
    assert any("belong to no face" in note for note in part.notes)
    state = stepped(part, part.initial_state(), 1 / 96, 3)
    out = part.output(state, 1)
    assert out.shape == vertices.shape and (out[0] == 9.0).all()
    assert out[1:, 2].max() < 0.0


def test_pins_hold_and_lead(tmp_path):
    """Pinned vertices are exactly at their prescribed positions; weights determine which are pinned."""
    vertices, triangles = grid(4, 4, 0.4, 0.4)
    times = np.arange(24 * 2 + 1) / 48
    arrays = {"way": vertices[:5] + 0.1 * np.sin(4 * times)[:, None, None] * [0, 1.0, 0.5],
              "weights": (np.arange(25) < 5).astype(float), "told": np.arange(5, dtype=np.int32)}
    body = cloth_body("Cloth", vertices, triangles, arrays)
    body["pin"] = {"weights": "arrays/weights.npy", "motion": "arrays/way.npy", "motion_vertices": "arrays/told.npy"}
    part = part_of(cloth_job(tmp_path / "job", [body], arrays))
    state = stepped(part, part.initial_state(), 1 / 96, 24)
    assert np.abs(places(part, state)[:5] - arrays["way"][12]).max() <= 1e-12
    assert places(part, state)[20:25, 2].mean() < -0.02


def test_moving_the_warp_turns_what_is_stiff(tmp_path):
    """Pulled along the warp it gives less than along the weft."""
    sunk = []
    for warp in ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]):
        vertices, triangles = grid(8, 4, 0.4, 0.2)
        vertices = np.column_stack([vertices[:, 1], 0 * vertices[:, 0], -vertices[:, 0]])
        woven = {"kind": "corotated_membrane", "params": {"stretch_warp": 1000.0, "stretch_weft": 50.0, "shear": 50.0,
                                                          "poisson_ratio": 0.0}}
        job = of_mesh(tmp_path / f"{warp[0]}", vertices, triangles, warp=warp, membrane=woven, drag=0,
                      pinned=np.flatnonzero(vertices[:, 2] > -1e-9),
                      laws={"damping": {"kind": "rayleigh", "params": {"mass_damping": 20.0}}})
        part = part_of(job)
        state = stepped(part, part.initial_state(), 1 / 24, 60)
        sunk.append(-0.4 - places(part, state)[: len(vertices), 2].min())
    assert sunk[1] == pytest.approx(20 * sunk[0], rel=0.05)


def test_settings_of_cloth_make_a_cache_stale_and_those_of_volumes_do_not(tmp_path):
    job = square(tmp_path / "job", cells=2)
    before = hashes.hashes(hashes.settings(load(job))).solve

    def now():
        return hashes.hashes(hashes.settings(load(job))).solve

    for path, value in (("bodies.0.material", {"kind": "arap", "params": {}}), ("bodies.0.density", 3.0),
                        ("bodies.0.mesher", {"kind": "grid", "params": {}})):
        change(job, path, value)
        assert now() == before, path
    old = hashes.settings(load(job)).plain()
    for path, value, setting in (("bodies.0.cloth.area_density", 0.4, "area density"),
                                 ("bodies.0.cloth.bending.kind", "hinge_bending", "bending of the cloth"),
                                 ("bodies.0.cloth.warp", [0, 1, 0], "warp"), ("wind", {"velocity": [1, 0, 0]}, "wind")):
        change(job, path, value)
        assert now() != before, path
        before = now()
        assert any(setting in name for name in list_changes(old, hashes.settings(load(job)).plain())), path
        old = hashes.settings(load(job)).plain()


def test_check_counts_faces_and_no_tetrahedra(tmp_path):
    estimated = estimate(square(tmp_path / "job", cells=4))
    assert estimated.bodies[0].exact and estimated.bodies[0].nodes == 25
    assert "25 vertices, 32 triangles, cloth" in estimated.bodies[0].sentence


@pytest.mark.parametrize("solver", some(["newton_d", "quick"], "quick"))
def test_a_bake_that_was_stopped_goes_on_with_the_same_bytes(tmp_path, solver):
    frames = {}
    for name, ends in (("whole", [14]), ("parts", [12, 14])):
        corner = [0, 6]
        job = square(tmp_path / name, cells=6, end=14, pinned=corner, area_density=0.2,
                     scene={"stage_solver": {"kind": solver}, "integrator": {"kind": "sdirk2"},
                            "wind": {"velocity": [0.0, 2.0, 0.0]}})
        for end in ends:
            bake(job, Quiet(), frames=(1, end), resume=True)
        cache = Cache(job / "cache")
        frames[name] = [cache.vertices(k) for k in range(1, 15)]
        assert json.loads((job / "cache" / "manifest.json").read_text())["bodies"][0]["name"] == "Cloth"
    assert all(np.array_equal(a, b) for a, b in zip(frames["whole"], frames["parts"]))
    fall = frames["whole"][-1]
    assert fall.shape == (49, 3) and fall[:, 2].min() < -0.1 and np.abs(fall[corner]).max() <= 0.5 + 1e-6


def test_cloth_and_a_body_of_tetrahedra_share_a_part(tmp_path):
    """Both of one method: neither is moved by the other's being there."""
    nodes, tets = box_tets((2, 2, 2), (0.1, 0.1, 0.1))
    vertices, triangles = grid(4, 4, 0.4, 0.4)
    arrays = {"nodes": nodes + [2, 0, 0], "tets": tets}
    cloth = cloth_body("Cloth", vertices, triangles, arrays, pinned=[0])
    jelly = {"name": "Jelly", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
             "method": {"kind": "vanilla"}, "density": 500.0}
    both = part_of(cloth_job(tmp_path / "both", [cloth, jelly], arrays))
    alone = part_of(cloth_job(tmp_path / "alone", [cloth], arrays))
    one, two = stepped(both, both.initial_state(), 1 / 96, 10), stepped(alone, alone.initial_state(), 1 / 96, 10)
    assert both.bodies == [("Cloth", 0, 25), ("Jelly", 25, 27)]
    assert np.abs(both.output(one, 1)[:25] - alone.output(two, 1)).max() <= 1e-6
    assert both.output(one, 1)[25:, 2].mean() < 0.05


def test_what_sharp_edges_may_say(tmp_path):
    def job(name, marked=((0, 1),), **eulerian):
        arrays = {"floor": np.array([[-1, -1, -0.1], [1, -1, -0.1], [0, 1, -0.1]], float),
                  "face": np.array([[0, 1, 2]], np.int32), "marked": np.array(marked, np.int32)}
        vertices, triangles = grid(2, 2, 0.5, 0.5)
        body = cloth_body("Cloth", vertices, triangles, arrays, eulerian=eulerian)
        floor = {"name": "Floor", "vertices": "arrays/floor.npy", "triangles": "arrays/face.npy",
                 "sharp_edges": "arrays/marked.npy"}
        return cloth_job(tmp_path / name, [body], arrays, obstacles=[floor], contact={})

    scene = load(job("good", finest=0.01)).scene
    sharp = scene.bodies[0].cloth.eulerian
    assert (sharp.angle, sharp.finest, sharp.coarsest, sharp.friction) == (np.radians(30.0), 0.01, 0.0, None)
    with pytest.raises(BadScene, match=r"finest edges, 0.2 m, are longer than its coarsest, 0.1 m.*eulerian.finest"):
        load(job("finer", finest=0.2, coarsest=0.1))
    with pytest.raises(BadScene, match="sharp_edges"):
        load(job("far", marked=((0, 3),)))
    with pytest.raises(BadScene, match="sharp_edges"):
        load(job("three", marked=((0, 1, 2),)))
    with pytest.raises(BadScene, match="angle"):
        load(job("turned", angle=-0.1))
