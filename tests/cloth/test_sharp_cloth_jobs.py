"""Cloth with Sharp Edges from a job folder to frames: it bends exactly at a box's edge, slides over it, and resumes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cloth_jobs import BOX, Quiet, cloth_body, cloth_job, obstacle
from matrix import some
from sheets import grid
from small_jobs import change

from solver.build.world import build
from solver.frames.read import Cache
from solver.job.load import load
from solver.simulate import bake

EDGE, THICKNESS = 0.12, 1e-3
ROOT = Path(__file__).resolve().parents[2]


def draped(folder, cells=8, end=17, *, sharp=None, box=None, **scene):
    """A square metre that lies on a box and hangs over its edge at x = EDGE, where there is no air."""
    arrays = {}
    vertices, triangles = grid(cells, cells, 1.0, 1.0)
    body = cloth_body("Cloth", vertices + [-0.45, -0.5, 0.004], triangles, arrays, eulerian=sharp or {},
                      thickness=THICKNESS, drag=0.0, air_friction=0.0,
                      laws={"damping": {"kind": "rayleigh", "params": {"stiffness_damping": 2e-3}}})
    table = obstacle("Table", BOX[0] * [0.5, 1.0, 0.5] + [EDGE - 0.5, 0.0, -0.5], BOX[1], arrays, friction=0.0,
                     **(box or {}))
    return cloth_job(folder, [body], arrays, end=end, contact={}, obstacles=[table], **scene)


def baked(folder, **how):
    bake(folder, Quiet(), **how)
    return Cache(folder / "cache")


@pytest.fixture(scope="module")
def slid(tmp_path_factory):
    return baked(draped(tmp_path_factory.mktemp("slid") / "job"))


def test_it_bends_at_the_edge_and_slides_over_it(slid):
    for frame in range(2, 12):
        sheet = slid.sheets(frame)["Cloth"]
        at_edge = sheet.x[sheet.sliding]
        assert len(at_edge) >= 9
        # exactly on the edge as thick cloth feels it, to single precision
        assert np.abs(at_edge[:, [0, 2]] - [EDGE + THICKNESS, THICKNESS]).max() < 1e-7
    assert np.linalg.norm(sheet.speed, axis=1).max() > 1.0  # the cloth runs over it


def test_it_lifts_off_where_tension_no_longer_bends_it(slid):
    """A strip of length L of which x₀ hangs at first has v² = g (x² − x₀²)/L and at the edge T = λ g x (L − x)/L: it
    flies off the edge where T = λ v², at x = (L + √(L² + 8 x₀²))/4."""
    start = 0.45 + 0.1 - EDGE
    leaves = (1.0 + np.sqrt(1.0 + 8.0 * start**2)) / 4.0
    over, steep = {}, {}
    for frame in range(6, 14):
        sheet = slid.sheets(frame)["Cloth"]
        faces = sheet.x[sheet.faces].astype(float)
        over[frame] = 1.0 - EDGE + sheet.x[:, 0].min()  # what lies before the edge is straight
        beyond = (faces.mean(axis=1)[:, 0] > EDGE) & (faces[:, :, 0].min(axis=1) < EDGE + 0.02) & (
            faces[:, :, 2].max(axis=1) > -0.02)
        normal = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])[beyond].sum(axis=0)
        steep[frame] = np.degrees(np.arccos(abs(normal[2]) / np.linalg.norm(normal)))
    folded = [frame for frame in steep if steep[frame] > 45.0]
    assert folded == list(range(6, len(folded) + 6)) and 7 in folded and 12 not in folded
    assert over[folded[-1]] < 1.05 * leaves < 1.05 * over[folded[-1] + 1]


def test_nothing_of_it_is_in_the_box(slid):
    for frame in range(1, 18):
        x = slid.sheets(frame)["Cloth"].x
        # from the nearest of its faces; at last the cloth hangs below its floor at z = -1
        depth = np.minimum.reduce([-x[:, 2], x[:, 2] + 1.0, EDGE - x[:, 0], x[:, 0] - EDGE + 1.0])
        assert depth.max() < -0.5 * THICKNESS


def test_the_artists_vertices_are_in_the_frames(slid):
    sheet = slid.sheets(17)["Cloth"]
    vertices = slid.vertices(17)
    assert vertices.shape == (81, 3) and np.isfinite(vertices).all()
    # they ride on the mesh
    assert vertices[:, 2].min() == pytest.approx(sheet.x[:, 2].min(), abs=0.05)


def test_a_resumed_bake_gives_the_same_bytes(tmp_path, slid):
    folder = draped(tmp_path / "job")
    bake(folder, Quiet(), frames=(1, 9))
    cache = baked(folder, resume=True)
    for frame in (9, 12, 17):
        assert (cache.folder / f"sheets/{frame:06d}.npz").read_bytes() == (
            slid.folder / f"sheets/{frame:06d}.npz").read_bytes()


@pytest.mark.parametrize("given", some([{}, {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}],
                                       {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}))
def test_a_process_of_its_own_gives_the_same_bytes_whatever_the_user_gives_to_blas(tmp_path, given):
    """That sums a product of this size in another order on two threads."""
    job = draped(tmp_path / "job", 24, 3)
    change(job, "time.snapshot_every", 2)

    def written():
        return {str(path.relative_to(job)): path.read_bytes() for path in (job / "cache").glob("*/*.np*")}

    baked(job)
    here = written()
    assert len(here) == 7
    unset = {key: value for key, value in os.environ.items() if not re.search("_(NUM_THREADS|THREAD_LIMIT)$", key)}
    Cache(job / "cache").free()
    ran = subprocess.run([sys.executable, "-m", "solver", "bake", str(job)], cwd=ROOT, capture_output=True, text=True,
                         env=unset | given)
    assert ran.returncode == 0, ran.stderr
    assert written() == here


def test_a_job_says_how_folds_rub_and_which_forces_slide(tmp_path):
    from solver.build.world import build
    from solver.job.load import load

    for sharp, exact, rubs in (({}, False, False), ({"capstan": True, "exact": True, "friction": 0.7}, True, True)):
        folder = draped(tmp_path / f"job{exact}", sharp=sharp)
        part = build(load(folder), lambda *_: None)[0].parts[0]
        made, = part.steps.sheet_properties
        assert made.exact is exact and (made.friction is not None) is rubs
        thing = part.steps.obstacles.each[0]
        assert thing.friction == 0.0 and thing.sharp_friction == sharp.get("friction", 0.0)


@pytest.mark.long
@pytest.mark.parametrize("cells", [5, 8])
def test_a_cloth_over_a_small_table_comes_to_rest(tmp_path, cells):
    """It hangs over all edges and corners of a cube, undamped: it stays on them and out of it, and calms down."""
    arrays = {}
    vertices, triangles = grid(cells, cells, 0.6, 0.6)
    body = cloth_body("Cloth", vertices + [-0.27, -0.28, 0.004], triangles, arrays, eulerian={}, thickness=THICKNESS)
    cube = obstacle("Cube", BOX[0] * 0.15 - [0.0, 0.0, 0.15], BOX[1], arrays)
    cache = baked(cloth_job(tmp_path / "job", [body], arrays, end=25, contact={}, obstacles=[cube]))
    before = None
    for frame in range(3, 26):
        sheet = cache.sheets(frame)["Cloth"]
        assert len(sheet.sliding) >= 4
        depth = np.minimum(0.15 - np.abs(sheet.x[:, :2]).max(axis=1), -sheet.x[:, 2])
        assert depth.max() < -0.5 * THICKNESS
        now = cache.vertices(frame)
        last, before = before, now
    # a frame's move of what swung by centimetres at first
    assert np.linalg.norm(before - last, axis=1).max() < 0.02


def slab(half, x=0.0):
    """A box 30 cm wide, from z = 0 down, so thick along X."""
    return BOX[0] * [half, 0.15, 0.15] + [x, 0.0, -0.15]


#: height of the cloth, half widths and places of boxes
BEGINNINGS = {"inside": (-0.02, [(0.15, 0.0)]), "ridge": (0.004, [(0.001, 0.0)]),
              "ridges": (0.004, [(0.001, -0.003), (0.001, 0.003)])}


@pytest.mark.parametrize("name", some(BEGINNINGS, "inside"))
def test_bad_beginnings_end_well(tmp_path, name):
    """Cloth that starts 2 cm below a lid, and ridges 2 mm thick or 4 mm apart, nearer than remeshing tells apart: it
    comes out, or stays out."""
    height, boxes = BEGINNINGS[name][0], [slab(*size) for size in BEGINNINGS[name][1]]
    arrays = {}
    vertices, triangles = grid(5, 5, 0.6, 0.6)
    body = cloth_body("Cloth", vertices + [-0.27, -0.28, height], triangles, arrays, eulerian={}, thickness=THICKNESS)
    things = [obstacle(f"Box{k}", x, BOX[1], arrays) for k, x in enumerate(boxes)]
    cache = baked(cloth_job(tmp_path / "job", [body], arrays, end=5, contact={}, obstacles=things))
    sheet = cache.sheets(5)["Cloth"]
    assert len(sheet.faces) < 1000
    for box in boxes:
        depth = np.minimum(sheet.x - box.min(axis=0), box.max(axis=0) - sheet.x).min(axis=1)
        assert depth.max() < -0.5 * THICKNESS


@pytest.mark.parametrize("both", [True, False])
def test_cloth_that_passes_through_other_cloth_with_sharp_edges_says_so(tmp_path, both):
    arrays = {}
    vertices, triangles = grid(2, 2, 0.5, 0.5)
    bodies = [cloth_body(name, vertices + [0.0, 0.0, z], triangles, arrays, laws={"touches": touches},
                         **({"eulerian": {}} if sharp else {}))
              for name, z, sharp, touches in (("Low", 0.0, True, ["High"]), ("High", 0.1, both, ["Low", "Box"]))]
    box = obstacle("Box", 0.1 * BOX[0] + [3.0, 0.0, 0.0], BOX[1], arrays)
    world, *_ = build(load(cloth_job(tmp_path / "job", bodies, arrays, contact={}, obstacles=[box])), lambda *_: None)
    sentences = [note for note in world.notes if "passes through" in note]
    assert len(sentences) == (2 if both else 0)
    assert not both or 'It passes through "High"' in sentences[0] and 'It passes through "Low"' in sentences[1]


def test_a_limit_to_its_stretch_does_not_count(tmp_path):
    """Its steps are linearised once, and threads that get stiff within one threw it about: the same bytes without."""
    frames = []
    for name, params in (("without", {}), ("limited", {"stretch_limit": 1e-3})):
        job = draped(tmp_path / name, end=6)
        change(job, "bodies.0.cloth.membrane", {"kind": "corotated_membrane", "params": params})
        world, *_ = build(load(job), lambda *stage: None)
        assert any("Stretch Limit has no effect with Sharp Edges" in note for note in world.notes) == bool(params)
        frames.append(baked(job).sheets(6)["Cloth"].x)
    assert np.array_equal(*frames)
