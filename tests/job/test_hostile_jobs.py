"""Any content of a job folder is answered with one sentence and exit code 2, soon, and without exhausting memory."""

import io
import json
import re
import zipfile

import forked_command
import numpy as np
import pytest
from small_jobs import box_job, box_tets, change, surface_job, write_job

from solver import cli
from solver.errors import BadInput, BadScene, printable
from solver.frames.layout import MANIFEST
from solver.frames.read import Cache
from solver.job import hashes
from solver.job.arrays import Unreadable, header_of, read_npy, read_npz
from solver.job.load import load
from solver.job.stages import keep, load_stage, stage_path

MEMORY = 2 << 30  # bytes that a command may take: numpy and msgspec need a tenth of it


def refused(job, where: str = "", verb: str = "check") -> str:
    """Return the command's message, after checking that it is one sentence with exit code 2."""
    code, _, errors = forked_command.run(verb, job, memory=MEMORY, seconds=120.0)
    assert code == 2, errors
    assert "Traceback" not in errors and len(errors.splitlines()) == 1, errors
    assert where in errors, errors
    return errors


@pytest.mark.parametrize("content", [b"\xff\xfe{}", b'{"version": 1, "name": "\xff"}', b"[" * 100_000,
                                     b'{"version": ' + b"[" * 5000 + b"]" * 5000 + b"}", b"\x00" * 50, b""])
def test_a_scene_that_is_no_scene(tmp_path, content):
    job = box_job(tmp_path)
    (job / "scene.json").write_bytes(content)
    refused(job, "cene.json")


@pytest.mark.parametrize(("path", "value", "where"), [
    ("time.end", 2**63, "$.time.end"), ("time.end", 10**9, "$.time.end"), ("time.start", -(2**70), "$.time.start"),
    ("time.samples_per_frame", 2**40, "$.time.samples_per_frame"),
    ("time.fps", 1e300, "$.time.fps"), ("time.fps", 1e-300, "$.time.fps"), ("time.step", 1e300, "$.time.step"),
    ("time.tolerance", 1e-12, "$.time.tolerance"), ("time.tolerance", 1e-300, "$.time.tolerance"),
    ("bodies.0.mesher", {"kind": "grid", "params": {"edge_length": 1e-60}}, "edge_length"),
    ("bodies.0.mesher", {"kind": "grid", "params": {"edge_length": 1e-9}}, "edge_length"),
    ("bodies.0.density", 1e-320, "$.bodies[0].density"), ("bodies.0.density", 1e300, "$.bodies[0].density"),
    ("bodies.0.material", {"kind": "stable_neo_hookean", "params": {"youngs_modulus": 1e300}}, "youngs_modulus"),
    ("ground", {"point": [0, 0, 0], "normal": [0, 0, 1], "stiffness": 1e300}, "$.ground.stiffness"),
])
def test_numbers_that_nothing_can_be_computed_with(tmp_path, path, value, where):
    job = surface_job(tmp_path)
    change(job, path, value)
    refused(job, where)


@pytest.mark.parametrize(("path", "value", "where"), [
    ("mass", 1e-320, "mass"), ("mass", 1e300, "mass"),
    ("shape", {"kind": "sphere", "params": {"radius": 1e300}}, "radius"),
    ("shape", {"kind": "box", "params": {"width": 1e300}}, "shape"), ("density", 1e-320, "density")])
def test_rigid_bodies_that_nothing_can_be_computed_with(tmp_path, path, value, where):
    job = surface_job(tmp_path)
    change(job, "bodies", [])
    change(job, "mechanisms", [{"name": "Arm", "bodies": [{"name": "Bone"}]}])
    change(job, f"mechanisms.0.bodies.0.{path}", value)
    refused(job, where)


def header(text: str) -> bytes:
    body = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(body).to_bytes(2, "little") + body


@pytest.mark.parametrize("text", [
    "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 3), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (4.5, 3), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': 4, }",
    "{'descr': '<x9', 'fortran_order': False, 'shape': (4, 3), }",
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (4, 3), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (4, 3), }",
    "{'descr': ('<f8', (1000000, 1000000)), 'fortran_order': False, 'shape': (4, 3), }",
    "{'descr': 7, 'fortran_order': False, 'shape': (4, 3), }", "{'shape': (4, 3), }", "[[[[", "(" * 110, "1 + 1", "",
    "{'descr': '<U0', 'fortran_order': False, 'shape': (2000000000, 3), }"])
def test_headers_that_no_numpy_wrote(tmp_path, text):
    job = surface_job(tmp_path)
    (job / "arrays/vertices.npy").write_bytes(header(text) + bytes(96))
    refused(job, "$.bodies[0].surface.vertices")


@pytest.mark.parametrize(("name", "shape", "dtype", "where"), [
    ("vertices", (125_000_000, 3), "<f8", "125000000 rows"), ("vertices", (4, 100_000_000), "<f8", "has shape"),
    ("vertices", (125_000_000, 3), "<f4", "125000000 rows"), ("triangles", (125_000_000, 3), "<i8", "125000000 rows")])
def test_a_file_of_holes_is_measured_before_it_is_read(tmp_path, name, shape, dtype, where):
    """A sparse file takes 4 kB on the disk and gigabytes in memory."""
    job, count = surface_job(tmp_path), int(np.prod(shape, dtype=object))
    with open(job / f"arrays/{name}.npy", "wb") as file:
        file.write(header(f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"))
        file.truncate(128 + count * np.dtype(dtype).itemsize)
    refused(job, where)


@pytest.mark.parametrize("read", [header_of, read_npy])
def test_a_file_shorter_than_its_header_says_is_not_read(tmp_path, read):
    """The header promises four terabytes, which are never allocated."""
    path = tmp_path / "short.npy"
    path.write_bytes(header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 500000), }") + bytes(96))
    with pytest.raises(Unreadable, match="it says that it holds 4000000000000 bytes and it is shorter"):
        read(path)


def test_an_archive_that_unfolds_is_not_unfolded(tmp_path):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, nodes=np.zeros((2_000_000, 3)))
    (tmp_path / "bomb.npz").write_bytes(buffer.getvalue())
    with pytest.raises(Unreadable, match="more than it does"):
        read_npz(tmp_path / "bomb.npz")
    with zipfile.ZipFile(tmp_path / "many.npz", "w") as archive:
        for k in range(20_000):
            archive.writestr(f"{k}.npy", b"")
    with pytest.raises(Unreadable):
        read_npz(tmp_path / "many.npz")


def wrong_tets():
    nodes, tets = box_tets()
    notes = np.array([], dtype=np.str_)
    nan = nodes.copy()
    nan[7, 1] = np.nan
    yield "nan", {"nodes": nan, "tets": tets, "notes": notes}
    yield "far", {"nodes": nodes * 1e40, "tets": tets, "notes": notes}
    yield "beyond", {"nodes": nodes, "tets": tets + 9999, "notes": notes}
    yield "negative", {"nodes": nodes, "tets": tets - 1, "notes": notes}
    yield "turned", {"nodes": nodes, "tets": tets[:, [1, 0, 2, 3]], "notes": notes}
    yield "flat", {"nodes": nodes * [1.0, 1.0, 0.0], "tets": tets, "notes": notes}
    yield "lone", {"nodes": np.vstack([nodes, [[9.0, 9.0, 9.0]]]), "tets": tets, "notes": notes}
    yield "missing", {"nodes": nodes, "notes": notes}
    yield "shape", {"nodes": nodes.ravel(), "tets": tets, "notes": notes}
    yield "empty", {"nodes": nodes, "tets": tets[:0], "notes": notes}


@pytest.mark.parametrize(("name", "arrays"), [pytest.param(*case, id=case[0]) for case in wrong_tets()])
def test_tetrahedra_that_no_mesher_made_are_made_anew(tmp_path, name, arrays):
    """A stage is found by the hash of its inputs, and its content is checked as well."""
    from solver.build.volumes import volumes_of

    surface_job(tmp_path, mesher={"kind": "grid", "params": {"edge_length": 0.05}})
    corners = np.array([[x, y, z] for x in (0, 0.2) for y in (0, 0.1) for z in (0, 0.1)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    np.save(tmp_path / "arrays/vertices.npy", corners)
    np.save(tmp_path / "arrays/triangles.npy",
            np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))], np.int32))
    job = load(tmp_path)
    key = hashes.hashes(hashes.settings(job)).bodies["Ear"]["tets"]
    keep(job, "tets", "Ear", key, lambda: arrays)
    [volume] = volumes_of(job, lambda *_: None)
    assert np.isfinite(volume.nodes).all() and len(volume.nodes) < 1000
    assert {"nodes", "tets", "notes"} == load_stage(job, "tets", "Ear", key).keys()


def test_a_changed_stage_is_made_anew(tmp_path):
    """An array's own checksum reveals the change, also where the archive's checksums were corrected."""
    job, nodes = load(box_job(tmp_path)), np.arange(12.0).reshape(4, 3)
    keep(job, "tets", "Ear", "a" * 40, lambda: {"nodes": nodes})
    path = stage_path(job, "tets", "Ear", "a" * 40)
    with np.load(path) as stored:
        arrays = dict(stored)
    np.savez(path, **{**arrays, "nodes": nodes + 1e-9})
    assert load_stage(job, "tets", "Ear", "a" * 40) is None
    # one from before there were checksums is read
    np.savez(path, nodes=nodes)
    assert np.array_equal(load_stage(job, "tets", "Ear", "a" * 40)["nodes"], nodes)


WHOLE = {"format": 1, "name": "box", "start": 1, "end": 5, "fps": 24,
         "bodies": [{"name": "Ear", "first": 0, "count": 4}],
         "hashes": {"solve": "x"}, "settings": {"scene": {}, "bodies": {}}, "scene": {}, "sources": {},
         "runs": [{"from": 1, "at": "", "host": "", "backend": ""}]}


@pytest.mark.parametrize(("key", "value"), [*((key, None) for key in WHOLE if key != "format"), ("end", 10**9),
                                            ("end", "5"), ("fps", 0), ("bodies", [{"name": "Ear"}]), ("runs", [{}]),
                                            ("end", 0),
                                            ("sources", {"a": 1}), ("mechanisms", [{}]), ("start", 2**63)])
def test_a_manifest_that_lacks_something_is_damaged(tmp_path, key, value):
    (tmp_path / "cache").mkdir()
    found = {name: entry for name, entry in WHOLE.items() if name != key} | ({} if value is None else {key: value})
    (tmp_path / "cache" / MANIFEST).write_text(json.dumps(found))
    with pytest.raises(BadInput, match=f"damaged.*{key}"):
        assert Cache(tmp_path / "cache").manifest
    assert Cache(tmp_path / "cache").status().state == "broken"
    assert "damaged" in refused(tmp_path / "cache", verb="info")
    (tmp_path / "cache" / MANIFEST).write_text(json.dumps(WHOLE))
    assert Cache(tmp_path / "cache").manifest == WHOLE


def test_names_reach_the_terminal_as_text(tmp_path, capsys):
    """A name may clear the screen, set the window's title or write another line."""
    name = "Ear\x1b[2J\x1b]0;mine\x07\nAll frames are baked\r\u202eevil\x9b31m"
    job = box_job(tmp_path, name=name)
    assert cli.main(["check", str(job)], read_stdin=False) == 0
    change(job, "bodies.0.density", 0.0)
    change(job, "bodies.0.dynamic", {"weights": "arrays/no.npy"})
    assert cli.main(["check", str(job)], read_stdin=False) == 2
    output, errors = capsys.readouterr()
    for text in (output, errors):
        assert not {c for c in text if c != "\n" and not c.isprintable()} and "\nAll frames" not in text
    assert "\\x1b[2J" in output and "\\n" in output
    assert printable("Ohr ß/耳\u200d 👩\u200d🔬 né") == "Ohr ß/耳\u200d 👩\u200d🔬 né"


@pytest.mark.parametrize("path, value, words", [
    ("contact.law.params.distance", 0.4999, 'Contact Distance of 0.4999 m is more than a third of the'),
    ("bodies.0.thickness", 1e3, '"Ear" has a Thickness of 1000 m, more than its size'),
])
def test_how_near_surfaces_push_has_to_fit_the_bodies_before_anything_runs(tmp_path, path, value, words):
    """A large activation distance took gigabytes and minutes in one native call."""
    job = box_job(tmp_path / "job", motion=False, integrator={"kind": "backward_euler"},
                  contact={"law": {"kind": "barrier", "params": {}}})
    load(job)
    change(job, path, value)
    with pytest.raises(BadScene, match=re.escape(words)):
        load(job)


def test_cloth_is_not_thicker_than_a_part_of_its_size(tmp_path):
    nodes = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    faces = np.array([[0, 1, 2], [2, 1, 3]], np.int32)
    job = write_job(tmp_path / "job", {
        "version": 1, "name": "cloth", "time": {"start": 1, "end": 3, "fps": 24, "step": 0.01},
        "integrator": {"kind": "backward_euler"}, "contact": {},
        "bodies": [{"name": "Sail", "cloth": {"thickness": 1e6}, "method": {"kind": "vanilla"},
                    "surface": {"vertices": "arrays/v.npy", "triangles": "arrays/t.npy"}}]},
        {"v": nodes, "t": faces})
    with pytest.raises(BadScene, match='Thickness of the cloth "Sail" of 1e\\+06 m is more than a third'):
        load(job)
