"""Small systems in which tuned constants of a job folder and its checks steer; see `tuned_units`."""

import io
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from small_jobs import box_job, box_tets, change, surface_job, write_job
from tuned_units_frames import waits
from worlds import world_of

from solver.errors import BadInput
from solver.job import costs, files, load
from solver.job.arrays import Unreadable, read_npz
from solver.job.estimate import estimate
from solver.job.expect import check_array, check_vector
from solver.job.folder import read_array
from solver.job.kinds import kind_of
from solver.job.object_pose import pose_of
from solver.meshing.volume import boundary_faces

GB = 1e9
TIME = {"start": 1, "end": 3, "fps": 24, "step": 1 / 48}


def _refused(make, *values):
    """Fields of the jobs that make(folder, value) writes at which they are refused; False for one that is not."""
    found = []
    for value in values:
        with tempfile.TemporaryDirectory() as folder:
            try:
                load.load(make(Path(folder), value))
                found.append(False)
            except BadInput as error:
                found.append(error.where.rpartition(".")[2])
    return found


def _with(job, path, value):
    change(job, path, value)
    return job


def accuracies():
    """Fields at which jobs with such an accuracy are refused."""
    return _refused(lambda folder, value: _with(box_job(folder, motion=False, end=2, integrator={"kind": "sdirk2"}),
                                                "time.tolerance", value), 1e-11, 1e-5)


def steps_per_frame():
    """Fields at which jobs with so many steps per frame are refused."""
    return _refused(lambda folder, value: box_job(folder, motion=False, end=2, step=1 / 24 / value), 1e3, 1e7)


def edges_across_a_body():
    """Fields at which jobs are refused whose tetrahedra have such edges [m] in a body of 1.7 m."""
    return _refused(lambda folder, value: surface_job(folder, mesher={"kind": "grid", "params": {
        "edge_length": value}}), 1e-3, 1e-6)


def _cloth(folder, vertices, triangles, uv=None, **cloth):
    arrays = {"vertices": np.array(vertices, float), "triangles": np.array(triangles, np.int32)}
    body = {"name": "Cloth", "cloth": cloth, "method": {"kind": "vanilla"},
            "surface": {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"}}
    if uv is not None:
        arrays["uv"] = np.array(uv, float)
        cloth["uv"] = "arrays/uv.npy"
    return write_job(folder, {"version": 1, "name": "cloth", "time": TIME, "bodies": [body],
                              "integrator": {"kind": "backward_euler"}}, arrays)


def narrow_faces():
    """Fields at which cloth is refused with a face so high, relative to its longest side."""
    return _refused(lambda folder, high: _cloth(folder, [[0, 0, 0], [1, 0, 0], [0, high, 0]], [[0, 1, 2]]),
                    1e-10, 1e-5)


def faces_that_overlap_in_the_map():
    """Fields at which cloth is refused whose two faces overlap by so much in the UV map."""
    def job(folder, deep):
        one = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        two = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]) - deep
        return _cloth(folder, [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2], [3, 2, 1]], [one, two])

    return _refused(job, 1e-8, 1e-3)


def short_links():
    """Fields at which ropes are refused with a link so long, relative to all."""
    def job(folder, long):
        arrays = {"points": np.array([[0, 0, 0], [long, 0, 0], [1.0, 0, 0]]), "edges": np.array([[0, 1], [1, 2]],
                                                                                                np.int32),
                  "faces": np.zeros((0, 3), np.int32)}
        body = {"name": "Rope", "rope": {"edges": "arrays/edges.npy"}, "method": {"kind": "vanilla"},
                "surface": {"vertices": "arrays/points.npy", "triangles": "arrays/faces.npy"}}
        return write_job(folder, {"version": 1, "name": "rope", "time": TIME, "bodies": [body],
                                  "integrator": {"kind": "backward_euler"}}, arrays)

    return _refused(job, 1e-11, 1e-6)


def _obstacle(folder, arrays, **fields):
    """A box that may touch an obstacle. fields: paths of arrays."""
    job = box_job(folder, motion=False, end=2, integrator={"kind": "backward_euler"}, method={"kind": "vanilla"},
                  contact={}, obstacles=[{"name": "Wall", **{name: f"arrays/{name}.npy" for name in arrays}, **fields}])
    for name, array in arrays.items():
        np.save(job / "arrays" / f"{name}.npy", array)
    return _with(job, "bodies.0.touches", [])


def pieces_of_wire():
    """Fields at which obstacles with a wire so long [m] are refused."""
    return _refused(lambda folder, long: _obstacle(folder, {
        "vertices": np.array([[0, 0, 0], [long, 0, 0]]), "wires": np.array([[0, 1]], np.int32)}), 1e-12, 1e-6)


def faces_of_an_obstacle():
    """Fields at which obstacles with so many faces are refused; the last one has other vertices."""
    def job(folder, count):
        job = _obstacle(folder, {"vertices": np.eye(3), "triangles": np.tile(np.arange(3, dtype=np.int32), (1000, 1))})
        if count > 1000:
            faces = np.lib.format.open_memmap(job / "arrays/triangles.npy", "w+", np.int32, (count, 3))
            faces[0] = -1
            faces.flush()
        return job

    return _refused(job, 1000, 1_100_000)


def obstacles_that_jump():
    """Fields at which obstacles are refused that move by so many of their sizes from one sample to the next."""
    def job(folder, far):
        corners = np.eye(3) / 2**0.5
        job = _obstacle(folder, {"vertices": corners, "triangles": np.array([[0, 1, 2]], np.int32)})
        at = np.linspace(0.0, 1.0, load.load(job).samples)[:, None, None]
        np.save(job / "arrays/motion.npy", corners + far * (len(at) - 1) * at * np.array([2**0.5, 0.0, 0.0]))
        return _with(job, "obstacles.0.motion", "arrays/motion.npy")

    return _refused(job, 0.3, 4.0)


def distances_of_contact():
    """Fields at which a contact distance of so much of a body's size is refused."""
    return _refused(lambda folder, wide: box_job(
        folder, motion=False, end=2, integrator={"kind": "backward_euler"}, method={"kind": "vanilla"},
        contact={"law": {"kind": "barrier", "params": {"distance": 0.2 * wide}}}), 0.1, 0.9)


def distances_of_cloth_with_many_faces():
    """Fields at which a thickness of so many edges of cloth with 5000 faces is refused."""
    side = 50
    columns, rows = (some.ravel() for some in np.meshgrid(np.arange(side + 1), np.arange(side + 1)))
    first = (np.arange(side)[:, None] * (side + 1) + np.arange(side)).ravel()
    triangles = np.concatenate([np.stack([first, first + 1, first + side + 2], axis=1),
                                np.stack([first, first + side + 2, first + side + 1], axis=1)])
    vertices = np.stack([columns, rows, 0 * rows], axis=1) / side
    return _refused(lambda folder, edges: _cloth(folder, vertices, triangles, thickness=edges / side), 6.0, 13.0)


def _rigid(folder, body=None, arrays=None, friction=None):
    bodies = [{"name": "Upper", "position": [0, 0, 1]} | (body or {}), {"name": "Lower"}]
    joint = {"name": "Elbow", "child": "Lower", "parent": "Upper"} | ({"friction": friction} if friction else {})
    arm = {"name": "Arm", "bodies": bodies, "joints": [joint] if body is None else []}
    return write_job(folder, {"version": 1, "name": "arm", "time": TIME, "mechanisms": [arm],
                              "integrator": {"kind": "backward_euler"}}, arrays or {})


def flat_hulls():
    """Fields at which hulls are refused that are so thick, relative to their width."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    return _refused(lambda folder, thick: _rigid(
        folder, {"shape": {"kind": "hull"}, "vertices": "arrays/v.npy"}, {"v": corners * [1, 1, thick]}), 1e-8, 1e-3)


def points_of_a_bearing():
    """Fields at which bearings with so many points are refused."""
    return _refused(lambda folder, points: _rigid(folder, friction={"mu": 0.5, "points": points}), 5, 30, 300, 5000)


def motions_that_scale():
    """Fields at which motions are refused that scale a body by so much."""
    def job(folder, much):
        motion = np.tile(np.diag([1.0 + much, 1.0, 1.0, 1.0]), (5, 1, 1))
        return _rigid(folder, {"motion": "arrays/motion.npy"}, {"motion": motion})

    return _refused(job, 1e-5, 0.02)


def numbers_that_are_refused():
    """Whether a vector with such a number is refused."""
    found = []
    for number in (1e20, 1e50):
        try:
            check_vector((number, 0.0, 0.0), "$.gravity")
            found.append(False)
        except BadInput:
            found.append(True)
    return found


def rows_that_are_refused():
    """Whether arrays of so many rows are refused."""
    found = []
    for rows in (1_000_000, 100_000_000):
        job = SimpleNamespace(describe_array=lambda *_, rows=rows: ("f", (rows, 3)), array=lambda *_: None)
        try:
            check_array(job, "nodes", "$", "f", (None, 3))
            found.append(False)
        except BadInput:
            found.append(True)
    return found


def arrays_that_stay_on_disk():
    """Whether arrays of so many bytes are read where they are touched alone."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "array.npy"
        for size in (1 << 20, 20 << 20):
            np.lib.format.open_memmap(path, "w+", np.int32, (size // 4,)).flush()
            at = read_array(path, "array", "$", Path(folder))
            while at is not None and not isinstance(at, np.memmap):
                at = at.base if isinstance(at, np.ndarray) else None
            found.append(at is not None)
    return found


@cache
def _archive(members):
    """Bytes of an archive of so many arrays, of which the first is compressed."""
    stream, content = io.BytesIO(), io.BytesIO()
    np.save(content, np.zeros(1))
    with zipfile.ZipFile(stream, "w") as archive:
        for number in range(members):
            archive.writestr(str(number), content.getvalue(), zipfile.ZIP_STORED if number else zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def arrays_of_an_archive():
    """Why archives of so many arrays are refused."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "archive.npz"
        for members in (100, 10_500):
            path.write_bytes(_archive(members))
            try:
                read_npz(path)
            except Unreadable as error:
                found.append(str(error))
    return found


def scenes_that_are_read():
    """Whether more than a megabyte of a file is read as a scene, and less than two gigabytes."""
    asked = []

    class Huge(io.BytesIO):
        def read(self, size=-1):
            asked.append(size)
            return b"{}"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load, "open_regular", lambda path: Huge())
        load.read_scene(Path("scene.json"))
    return 1e6 < asked[0], 0 < asked[0] < 2e9


def files_that_a_scanner_has_open():
    """Whether a file is replaced that another program has open for a third of a second, and for how long one is tried
    that stays open: less than 20 s."""
    found = []
    for release in (0.3, np.inf):
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            fresh, path, is_open = Path(folder) / "new", Path(folder) / "old", [True]
            fresh.write_bytes(b"new")

            def replaces(source, target, is_open=is_open, does=files.os.replace):
                if is_open[0]:
                    raise PermissionError
                does(source, target)

            patch.setattr(files.os, "replace", replaces)
            failed, seconds = waits(files, lambda fresh=fresh, path=path: files.replace(fresh, path), release,
                                    lambda is_open=is_open: is_open.append(is_open.pop() and False))
            found.append((failed, seconds < 20.0))
    return found


def scales_of_a_rotated_object():
    """Whether an object with a scale has the same one for two rotations in single precision, and to a thousandth what
    it was given."""
    scales = []
    for angle in (0.3, 1.1):
        rotation = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])
        to_world = np.eye(4)
        to_world[:3, :3] = rotation @ np.diag([1.0, 1.2345, 0.777])
        back = np.linalg.inv(to_world.astype(np.float32).astype(float))
        surface = SimpleNamespace(object_vertices="o", to_object="m")
        scales.append(pose_of(SimpleNamespace(array=lambda name, back=back: back[None]), surface).scale)
    return np.array_equal(*scales), bool(np.abs(np.diag(scales[0]) / [1.0, 1.2345, 0.777] - 1.0).max() < 1e-3)


def bodies_that_multigrid_is_taken_for():
    """From how many thousands of tetrahedra multigrid is taken, with much memory and with 1 GB; and powers of √2 of
    seconds and gigabytes of both for few and many."""
    counts = 1000 * 2 ** np.arange(15)
    least = [next((int(count) for count in counts if costs.why_multigrid([int(count)], memory)), None)
             for memory in (1e15, GB)]
    found = [cost([count]) for cost in (costs.direct, costs.multigrid) for count in (1000, 1_000_000)]
    return least, [(round(2.0 * np.log2(one.seconds)), round(2.0 * np.log2(one.memory / GB))) for one in found]


def _filled(cells, size, edge):
    """The estimate for a box in tetrahedra of such edges; nodes and tetrahedra of one of cells."""
    nodes, tets = box_tets(cells, size)
    used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
    with tempfile.TemporaryDirectory() as folder:
        job = surface_job(Path(folder), mesher={"kind": "grid", "params": {"edge_length": edge}})
        np.save(job / "arrays/vertices.npy", nodes[used])
        np.save(job / "arrays/triangles.npy", corners.reshape(-1, 3).astype(np.int32))
        loaded = load.load(job)
        return kind_of(loaded.scene.bodies[0]).size(loaded, ""), len(nodes), len(tets)


def numbers_that_are_estimated():
    """Whether tetrahedra per node are estimated to a factor of one and a half for a block, and its tetrahedra within
    the estimate's bounds, which are apart by less than a factor of ten."""
    size, nodes, tets = _filled((12, 8, 8), (0.6, 0.4, 0.4), 0.05)
    return (1 / 1.5 < size.tets / size.nodes / (tets / nodes) < 1.5, size.least_tets < tets < size.most_tets,
            size.most_tets < 10 * size.least_tets)


def tetrahedra_of_a_thin_body():
    """Whether estimates for a plate with edges of 16 times its thickness are right to a factor of three: such
    tetrahedra would be flat, and the mesher makes them of edges of four times that."""
    size, _, tets = _filled((20, 20, 1), (1.0, 1.0, 0.0125), 0.2)
    return bool(1 / 3 < size.tets / tets < 3)


def sizes_of_a_bake():
    """Whether frames of rigid bodies are estimated to a factor of two and a half of their arrays, and the memory of a
    small bake to lie between 100 MB and 1 GB."""
    with tempfile.TemporaryDirectory() as folder:
        job = _rigid(Path(folder))
        sizes, world = estimate(job), world_of(load.load(job))
        written = sum(array.nbytes for array in world.poses(world.initial_state()).values())
        times = sizes.cache_mb * 1e6 / 3 / written
        return 0.4 < times < 2.5, 100 < sizes.memory_mb < 1000


UNITS = (
    accuracies, steps_per_frame, edges_across_a_body, narrow_faces, faces_that_overlap_in_the_map, short_links,
    pieces_of_wire, faces_of_an_obstacle, obstacles_that_jump, distances_of_contact,
    distances_of_cloth_with_many_faces, flat_hulls, points_of_a_bearing, motions_that_scale, numbers_that_are_refused,
    rows_that_are_refused, arrays_that_stay_on_disk, arrays_of_an_archive, scenes_that_are_read,
    files_that_a_scanner_has_open, scales_of_a_rotated_object, bodies_that_multigrid_is_taken_for,
    numbers_that_are_estimated, tetrahedra_of_a_thin_body, sizes_of_a_bake)
