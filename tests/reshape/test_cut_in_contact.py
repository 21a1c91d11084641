"""A body that is cut or nailed while surfaces touch, and while bones carry it."""

import ipctk
import numpy as np
import pytest
from cut_jobs import Listener
from small_jobs import box_job, change

from solver import simulate
from solver.errors import BadScene
from solver.frames.read import Cache
from solver.job.load import load
from solver.meshing.volume import boundary_faces, face_parts, tet_volumes
from solver.reshape.kerf import open_kerf
from solver.reshape.split import separate

SOLVED = {"method": {"kind": "vanilla"}, "integrator": {"kind": "sdirk2"}, "stage_solver": {"kind": "quick"}}
TOUCH = {"contact": {"law": {"kind": "barrier"}}}
GROUND = {"ground": {"point": [0, 0, -0.01], "normal": [0, 0, 1], "stiffness_per_area": 1e7,
                     "friction": {"kind": "coulomb"}}}
CUT = {"frame": 2, "kind": "plane", "point": [0.1, 0.05, 0.05], "normal": [1.0, 0.0, 0.2]}
ARM = {"name": "Arm", "position": [-0.1, 0.05, 0.05], "mass": 5.0, "shape": {"kind": "box"}}
HINGE = {"name": "Hinge", "child": "Arm", "position": [-0.2, 0.05, 0.05],
         "rotation": [0.5**0.5, -(0.5**0.5), 0, 0], "stiffness": [500.0]}


def bake(job, *parts):
    listener = Listener()
    for k, frames in enumerate(parts or (None,)):
        simulate.bake(job, listener, frames=frames, resume=k > 0)
    cache = Cache(load(job).cache)
    return {k: cache.frame(k)["Ear"].astype(float) for k in cache.frames_done()}, listener.logs


def sides(job, apart):
    """Tetrahedra of a job's body with a random choice of inner faces that came apart, as `separate` has them."""
    tets = np.load(job / "arrays" / "tets.npy")
    from solver.reshape.cuts.interface import Shape

    shape = Shape(np.load(job / "arrays" / "nodes.npy"), tets, np.arange(tets.max() + 1, dtype=np.int32))
    cut = apart(shape)
    split, source = separate(tets, shape.inner, cut)
    return shape, cut, split, source


@pytest.mark.parametrize("pieces", [2, 1])
def test_a_cut_has_a_width_where_surfaces_touch(tmp_path, pieces):
    """All the way through or ending inside: nothing crosses, sides of the cut are apart, and nothing else moves."""
    job = box_job(tmp_path / "job", cells=(6, 5, 4))
    shape, cut, tets, source = sides(job, lambda shape: (
        (shape.centres[shape.inner // 4, 0] > 0.1).sum(axis=1) == 1)
        & ((shape.centres[shape.inner // 4, 1] < 0.05).all(axis=1) | (pieces == 2)))
    assert face_parts(tets)[0] == pieces
    before = shape.x[source]
    edge, width = 0.1 / 5, 0.1 * 0.1 / 5
    x = open_kerf(before, tets, source, shape.inner[cut], width)
    moved = np.linalg.norm(x - before, axis=1)
    doubled = np.bincount(source)[source] > 1
    assert not moved[~doubled].any() and (moved[doubled] >= 0.49 * width).all() and moved.max() < width + 1e-12
    assert (tet_volumes(x, tets) > 0.5 * tet_volumes(before, tets)).all()
    faces = boundary_faces(tets)[0]
    mesh = ipctk.CollisionMesh(x, ipctk.edges(faces), faces)
    assert not ipctk.has_intersections(mesh, x)
    twins = np.lexsort((source,))
    twins = [(a, b) for a, b in zip(twins[:-1], twins[1:]) if source[a] == source[b]]
    assert len(twins) >= 10
    assert min(np.linalg.norm(x[a] - x[b]) for a, b in twins) > 0.8 * width and edge > 5 * width
    assert np.array_equal(open_kerf(before, tets, source, shape.inner[cut], 0.0), before)


def test_halves_of_a_cut_body_touch_each_other(tmp_path):
    """Cut in the air above the ground: they fall, stand beside each other, and do not cross; resumed, byte for byte."""
    caches = []
    for name, parts in (("whole", [None]), ("parts", [(1, 2), (1, 4), None])):
        job = box_job(tmp_path / name, motion=False, end=7, cells=(3, 2, 2), **SOLVED, **TOUCH, **GROUND)
        change(job, "bodies.0.pin", {})
        change(job, "bodies.0.cuts", [CUT])
        change(job, "time.snapshot_every", 1)
        cache, logs = bake(job, *parts)
        assert any("cut at frame 2, into 2 pieces" in line for line in logs)
        caches.append(cache)
    frames = [cache[7] for cache in caches]
    assert np.array_equal(*frames)
    nodes, tets = (np.load(tmp_path / "whole" / "arrays" / f"{name}.npy") for name in ("nodes", "tets"))
    shape, cut, split, source = sides(tmp_path / "whole", lambda shape: (
        ((shape.centres[shape.inner // 4] - CUT["point"]) @ CUT["normal"] > 0.0).sum(axis=1) == 1))
    assert len(frames[0]) == len(source) > len(nodes)
    faces = boundary_faces(split)[0]
    mesh = ipctk.CollisionMesh(frames[0], ipctk.edges(faces), faces)
    for k in range(3, 8):
        assert not ipctk.has_intersections(mesh, caches[0][k])
    assert len(frames[0][np.isclose(frames[0][:, 2], -0.01, atol=2e-3)]) >= 12  # both stand on the ground


@pytest.mark.parametrize("touch", [False, True])
def test_flesh_that_bones_carry_is_cut(tmp_path, touch):
    """The piece on the arm stays on it, the piece that is cut off falls; a nail beside it holds."""
    job = box_job(tmp_path / "job", motion=False, end=6, cells=(4, 2, 2), **SOLVED, **(TOUCH if touch else {}))
    change(job, "mechanisms", [{"name": "Robot", "bodies": [ARM], "joints": [HINGE]}])
    change(job, "bodies.0.pin", {})
    change(job, "bodies.0.attach", [{"mechanism": "Robot", "body": "Arm", "nodes": "arrays/pinned.npy"}])
    change(job, "bodies.0.cuts", [CUT])
    nail = {"frame": 4, "head": [0.2, -1.0, -0.02], "tip": [0.2, 1.0, -0.02], "radius": 0.05}
    change(job, "bodies.0.nails", [nail])
    cache, logs = bake(job)
    assert any("cut at frame 2, into 2 pieces" in line for line in logs)
    nodes = np.load(job / "arrays" / "nodes.npy")
    x = {k: cache[k][: len(nodes)] for k in cache}
    pinned, loose = nodes[:, 0] < 0.06, nodes[:, 0] > 0.14
    fallen = {k: (x[k] - nodes)[:, 2] for k in x}
    assert fallen[4][loose].mean() < 1.5 * fallen[4][pinned].mean() < 0.0
    assert fallen[4][loose].mean() == pytest.approx(-0.5 * 9.81 * (3 / 24) ** 2, rel=0.2)
    stands = np.abs(x[6] - x[4]).max(axis=1) < 1e-6
    assert stands[loose].any() and not stands[pinned].any()


@pytest.mark.parametrize("touch", [False, True])
@pytest.mark.parametrize("way", ["told", "still"])
def test_flesh_on_a_bone_that_no_joint_moves_stays_on_it_when_cut(tmp_path, touch, way):
    """On a bone that is animated, or one that stands; in a resumed run too."""
    job = box_job(tmp_path / "job", motion=False, end=5, cells=(4, 2, 2), **SOLVED, **(TOUCH if touch else {}))
    lift = np.zeros(9)
    if way == "told":
        frames = np.tile(np.eye(4), (9, 1, 1))
        lift = 0.02 * np.linspace(0.0, 1.0, 9) ** 2
        frames[:, :3, 3] = ARM["position"]
        frames[:, 2, 3] += lift
        np.save(job / "arrays" / "told.npy", frames)
        change(job, "time.samples_per_frame", 2)
        change(job, "mechanisms", [{"name": "Robot", "bodies": [ARM | {"motion": "arrays/told.npy"}], "joints": []}])
    else:
        fixed = {"name": "Fixed", "child": "Arm", "kind": "fixed"}
        change(job, "mechanisms", [{"name": "Robot", "bodies": [ARM], "joints": [fixed]}])
    change(job, "time.snapshot_every", 1)
    change(job, "bodies.0.pin", {})
    change(job, "bodies.0.attach", [{"mechanism": "Robot", "body": "Arm", "nodes": "arrays/pinned.npy"}])
    change(job, "bodies.0.cuts", [CUT])
    cache, logs = bake(job, (1, 3), None)
    assert any("cut at frame 2, into 2 pieces" in line for line in logs)
    nodes, pinned = (np.load(job / "arrays" / f"{name}.npy") for name in ("nodes", "pinned"))
    for k in cache:
        assert cache[k][pinned] == pytest.approx(nodes[pinned] + [0.0, 0.0, lift[2 * (k - 1)]], abs=1e-7)


def test_what_cannot_be_cut_in_contact_is_refused(tmp_path):
    job = box_job(tmp_path / "job", motion=False, **SOLVED, **TOUCH, **GROUND)
    change(job, "bodies.0.cuts", [CUT])
    load(job)
    change(job, "bodies.0.touches_by_mesh", True)
    with pytest.raises(BadScene, match='"Ear" has (cuts|no mesh)'):
        load(job)
