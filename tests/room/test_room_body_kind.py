"""A kind of soft body comes from outside: one file, which checks, sizes and prepares bodies of bars between beads, and
one entry in the table of kinds. It is baked beside a solid, cloth and a rope, which it touches."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from made_up import add_to_solver
from rope_jobs import Quiet, rope_body
from small_jobs import box_tets, change, write_job
from test_room_touching_part import Weight, cushion_and_weight
from worlds import world_of

from solver import catalogue
from solver.build.cloth import find_pinned_vertices, motion_of
from solver.build.cloth_interfaces import interface_of
from solver.build.fields import Prepared
from solver.build.material_data import MaterialData
from solver.errors import BadScene
from solver.fields.attach import no_attachments
from solver.fields.build import Fields
from solver.forces.cloth.elements import ClothElements
from solver.frames.read import Cache
from solver.job import kinds
from solver.job.body_size import BodySize
from solver.job.estimate import estimate
from solver.job.folder import parameters
from solver.job.hashes import hashes, settings
from solver.job.kinds.interface import BodyKind
from solver.job.load import load
from solver.job.validate_volume import check_surface
from solver.meshing.volume import SIDES, find_connected_nodes, find_edges
from solver.simulate import bake

GRAVITY, STIFFNESS, MASS = 9.81, 400.0, 0.05


class Bars:
    """Springs of ½ k (l − L)² between the ends of edges."""

    def __init__(self, nodes, rest, stiffness):
        self.nodes, self.stiffness = nodes, stiffness
        self.length = np.linalg.norm(rest[nodes[:, 1]] - rest[nodes[:, 0]], axis=1)

    def stretched(self, x):
        along = x[self.nodes[:, 1]] - x[self.nodes[:, 0]]
        length = np.linalg.norm(along, axis=1)
        return along / length[:, None], length, length - self.length

    def measure(self, x, forces):
        along, _, over = self.stretched(x)
        forces[:] = 0.0
        forces[:, 0] = self.stiffness * over[:, None] * along
        forces[:, 1] = -forces[:, 0]
        self.energies = 0.5 * self.stiffness * over**2
        return float(self.energies.sum())

    def fill(self, x, project, forces, blocks):
        self.measure(x, forces)
        along, length, over = self.stretched(x)
        outer = along[:, :, None] * along[:, None, :]
        lateral = over / length
        lateral = np.maximum(lateral, 0.0) if project else lateral
        blocks[:] = 0.0
        blocks[:, 0] = (self.stiffness * (outer + lateral[:, None, None] * (np.eye(3) - outer))).reshape(-1, 9)


@dataclass(frozen=True)
class PreparedTruss(Prepared):
    """Bars along all edges of a surface, between beads at its vertices."""

    triangles: np.ndarray

    @property
    def skin(self):
        return self.triangles

    @property
    def bars(self):
        return find_edges(self.triangles, SIDES)

    @property
    def count(self):
        return len(self.bars)

    def material_data(self, job, rest, start):
        params, nodes = parameters("material", self.body.material), len(self.volume.nodes)
        bars = Bars(self.bars + np.int32(start), rest, params["bar_stiffness"])
        return MaterialData(ClothElements([bars]), np.full(self.count, params["bar_stiffness"]),
                            np.full(nodes, params["bead_mass"]),
                            [part + start for part in find_connected_nodes(self.triangles, nodes)],
                            params["bar_stiffness"])

    def vertices_at(self, job, nodes, painted):
        return nodes

    def read_prescribed_motion(self, job, nodes):
        return motion_of(job, self.body, self.volume.nodes, nodes)

    def resistance(self, edge):
        return np.full(len(self.volume.nodes), parameters("material", self.body.material)["bar_stiffness"])


def prepare_truss(job, body, volume, report):
    triangles, notes = np.asarray(job.array(body.surface.triangles), np.int32), []
    pinned = find_pinned_vertices(job, body, volume.nodes, triangles, notes)
    fields = Fields({}, np.zeros(0), no_attachments(), pinned, {}, None,
                    motion_of(job, body, volume.nodes, pinned), tuple(notes))
    return PreparedTruss(body, volume, None, fields, triangles)


class TrussKind(BodyKind):
    """Bars between beads: a body whose material is "bars"."""

    noun, builder = "a truss", "build.trusses:prepare_truss"

    @classmethod
    def matches(cls, body):
        return body.material.kind == "bars"

    def check(self, job, where):
        vertices = check_surface(job, self.body, where)
        return vertices, vertices

    def draft_conflicts(self, method):
        return [("a truss has no weights to be moved by", "material")]

    def size(self, job, tets_hash):
        vertices, faces = (len(job.array(name)) for name in (self.body.surface.vertices, self.body.surface.triangles))
        bars = len(find_edges(np.asarray(job.array(self.body.surface.triangles)), SIDES))
        return BodySize.of_counts(self.name, vertices, faces, vertices, bars)

    @property
    def choices(self):
        return []


@pytest.fixture
def with_trusses(monkeypatch):
    """The new kind, and the settings of its bars as an entry of the catalogue."""
    add_to_solver(monkeypatch, {"build.trusses": prepare_truss}, catalogue.Entry(
        "material", "bars", "build.trusses:prepare_truss", "Bars", "Springs along edges",
        (catalogue.Param("bar_stiffness", "Stiffness", "Of each bar", STIFFNESS, "N/m", 1e-3, 1e9),
         catalogue.Param("bead_mass", "Mass", "Of each bead", MASS, "kg", 1e-6, 1e3))))
    monkeypatch.setattr(kinds, "KINDS", (TrussKind, *kinds.KINDS))


def octahedron(radius, centre):
    """Six vertices, the first one on top, and eight faces that point outwards."""
    points = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, -1]], float)
    ring = [(1, 2), (2, 3), (3, 4), (4, 1)]
    faces = [(0, a, b) for a, b in ring] + [(5, b, a) for a, b in ring]
    return radius * points + centre, np.array(faces, np.int32)


def truss_body(name, arrays, centre, pinned=()):
    arrays[f"{name}_v"], arrays[f"{name}_t"] = octahedron(0.1, centre)
    body = {"name": name, "surface": {"vertices": f"arrays/{name}_v.npy", "triangles": f"arrays/{name}_t.npy"},
            "material": {"kind": "bars"}, "method": {"kind": "vanilla"},
            "damping": {"kind": "rayleigh", "params": {"stiffness_damping": 0.02, "mass_damping": 10.0}}}
    if pinned:
        arrays[f"{name}_p"] = np.isin(np.arange(6), pinned).astype(float)
        body["pin"] = {"weights": f"arrays/{name}_p.npy"}
    return body


def job_of(folder, bodies, arrays, end, **scene):
    time = {"start": 1, "end": end, "fps": 24, "step": 1 / 96}
    return write_job(folder, {"version": 1, "name": "truss", "time": time, "bodies": bodies,
                              "gravity": [0.0, 0.0, -GRAVITY], "integrator": {"kind": "backward_euler"}, **scene},
                     arrays)


def test_a_truss_hangs_from_its_top(with_trusses, tmp_path):
    """The bars of the pinned bead carry the weight of the other five."""
    arrays = {}
    job = job_of(tmp_path / "job", [truss_body("Truss", arrays, [0.0, 0.0, 0.0], (0,))], arrays, 25)
    bake(job, Quiet())
    rest, last = arrays["Truss_v"], np.asarray(Cache(job / "cache").frame(25)["Truss"], float)
    upper = np.array([[0, k] for k in range(1, 5)])
    along, _, over = (part[:4] for part in Bars(upper, rest, STIFFNESS).stretched(last))
    assert -STIFFNESS * over @ along[:, 2] == pytest.approx(5 * MASS * GRAVITY, rel=1e-2)


def test_a_truss_is_baked_beside_other_kinds(with_trusses, tmp_path):
    """It lands on a solid, under a cloth and a rope that do not touch each other."""
    arrays = {}
    truss = truss_body("Truss", arrays, [0.1, 0.05, 0.22])
    nodes, tets = box_tets((3, 2, 2), (0.3, 0.3, 0.1))
    arrays |= {"nodes": nodes + [-0.05, -0.1, 0.0], "tets": tets,
               "foot": np.flatnonzero(nodes[:, 2] == nodes[:, 2].min()).astype(np.int32),
               "sheet": np.array([[x, y, 0.34] for x in (0.0, 0.1, 0.2) for y in (-0.05, 0.05, 0.15)]),
               "faces": np.array([f for i in (0, 1, 3, 4) for f in ((i, i + 3, i + 4), (i, i + 4, i + 1))], np.int32)}
    block = {"name": "Block", "tets": {"nodes": "arrays/nodes.npy", "tets": "arrays/tets.npy"},
             "pin": {"nodes": "arrays/foot.npy"}, "method": {"kind": "vanilla"}}
    sheet = {"name": "Sheet", "surface": {"vertices": "arrays/sheet.npy", "triangles": "arrays/faces.npy"},
             "cloth": {"thickness": 0.005}, "method": {"kind": "vanilla"}}
    rope = rope_body("Rope", np.c_[np.linspace(0.5, 0.8, 5), np.zeros(5), np.full(5, 0.4)], arrays)
    job = job_of(tmp_path / "job", [block, truss, sheet, rope], arrays, 11, contact={})
    assert [size.tets for size in estimate(job).bodies] == [len(tets), 12, 8, 4]
    bake(job, Quiet())
    cache = Cache(job / "cache")
    block, truss, sheet = (np.array([cache.frame(k)[name] for k in range(1, 12)])
                           for name in ("Block", "Truss", "Sheet"))
    top = block[:, :, 2].max(axis=1)
    assert (truss[0] - truss[-1])[:, 2].max() > 0.01, "it falls"
    assert (truss[:, 5, 2] > top - 0.02).all(), "onto the block"
    assert (sheet[-1, :, 2].max() > truss[-1, 5, 2] + 0.05) and sheet[-1, 4, 2] < 0.34, "and carries the sheet"


def test_its_settings_are_checked_and_hashed(with_trusses, tmp_path):
    arrays = {}
    job = job_of(tmp_path / "job", [truss_body("Truss", arrays, [0.0, 0.0, 0.0], (0,))], arrays, 3)
    before = hashes(settings(load(job))).bodies["Truss"]["fields"]
    change(job, "bodies.0.material", {"kind": "bars", "params": {"bead_mass": 0.1}})
    assert hashes(settings(load(job))).bodies["Truss"]["fields"] != before
    change(job, "bodies.0.material.params.bead_mass", -1.0)
    with pytest.raises(BadScene, match="Mass is -1"):
        load(job)
    change(job, "bodies.0.material.params", {})
    change(job, "bodies.0.method", {"kind": "subspace"})
    with pytest.raises(BadScene, match="a truss has no weights"):
        load(job)


def test_the_first_kind_that_matches_is_taken(with_trusses):
    body = SimpleNamespace(material=SimpleNamespace(kind="bars"), rope=None, cloth=None)
    assert isinstance(kinds.kind_of(body), TrussKind)
    body.material.kind = "stable_neo_hookean"
    assert isinstance(kinds.kind_of(body), kinds.VolumeKind)


class BlockKind(kinds.VolumeKind):
    """Solids of the material "block" are rigid weights, which step by themselves."""

    noun, separate_parts = "a block", "build.blocks:make_blocks"

    @classmethod
    def matches(cls, body):
        return body.material.kind == "block"

    @property
    def choices(self):
        return []


def make_blocks(job, prepared, index, around):
    parts = []
    for k, prepared_body in enumerate(prepared):
        surfaces = around.surfaces(prepared_body)
        part = Weight(prepared_body.body.name, prepared_body.volume.nodes, MASS, STIFFNESS, job.scene.gravity,
                      surfaces)
        parts.append((part, interface_of(index + k, part, surfaces)))
    return parts


def test_a_kind_that_steps_by_itself_rests_on_a_solid(monkeypatch, tmp_path):
    add_to_solver(monkeypatch, {"build.blocks": make_blocks}, catalogue.Entry(
        "material", "block", "build.blocks:make_blocks", "Block", "Rigid"))
    monkeypatch.setattr(kinds, "KINDS", (BlockKind, *kinds.KINDS))
    job = cushion_and_weight(tmp_path / "job")
    change(job, "bodies.1.material", {"kind": "block"})
    change(job, "bodies.1.method", {"kind": "vanilla"})
    change(job, "time.end", 6)
    assert [type(part) for part in world_of(load(job)).parts][1:] == [Weight]
    bake(job, Quiet())
    cushion, weight = (np.array([Cache(job / "cache").frame(k)[name][:, 2] for k in (1, 6)])
                       for name in ("Cushion", "Weight"))
    top = cushion[0] == cushion[0].max()
    free = 0.5 * GRAVITY * (5 / 24) ** 2
    assert 1e-4 < (weight[0] - weight[1]).max() < 0.2 * free, "the cushion bears it"
    assert (cushion[0] - cushion[1])[top].mean() > 1e-5, "and sinks in"
    change(job, "contact.law", {"kind": "gap"})
    with pytest.raises(BadScene, match='do not support a block, which "Weight" is'):
        load(job)
