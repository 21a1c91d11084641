"""Small systems in which tuned constants of bodies and their contact at the start steer; see `tuned_units`."""

import io
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from small_jobs import box_job, box_tets, change
from solids import box, globe
from tuned_jobs import touching
from worlds import world_of

from solver.build import compiling, contact
from solver.build.cloth import lay_flat
from solver.build.compliant_pins import make_compliant_pins
from solver.build.constraints import _ignore_overlaps
from solver.build.diagonals import _is_flat
from solver.build.fields import _measure_far_vertices
from solver.build.ground import measure_drawn_reach, notes_on_sunk_bodies
from solver.build.prescribed_ends import _single, find_prescribed_ends
from solver.build.rigid_skins import sphere
from solver.build.ropes import bends_of
from solver.build.soft_bodies import prepare_all
from solver.build.supported import Support, support_of
from solver.build.thinned_mesh import simplify_mesh
from solver.build.touching_surface import subdivide, touching_surface
from solver.contact.find.bodies import Colliders
from solver.contact.find.convex import Convex, Shapes
from solver.contact.find.ground import Ground
from solver.embedding.bind import Embedding, bind
from solver.errors import BadScene
from solver.job import schema
from solver.job.load import load
from solver.meshing.volume import Volume, boundary_faces, mean_edge

UP = np.array([0.0, 0.0, 1.0])


def _quiet(*_):
    """Discard the progress of a stage."""


def faces_that_a_warp_runs_into():
    """Whether the threads of a face follow a warp that leans so much [rad] out of its normal."""
    corners, found = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), []
    for lean in (1e-4, 0.3):
        flat = lay_flat(corners, np.array([[0, 1, 2]]), np.array([np.sin(lean), 0.0, np.cos(lean)]))
        found.append(bool(flat[0, 1, 0] > 0.5))
    return found


def urgency_of_compiling():
    """Whether compiling leaves a bake beside it on a core most of its time, and gets more than a fiftieth of it: each
    step of urgency is a quarter more by Linux's scheduler."""
    steps = []
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()):
        patch.setattr(compiling.os, "nice", steps.append)
        patch.setattr(compiling.kernel_archive, "has_all", lambda sources: False)
        patch.setattr(compiling.cores, "available", lambda: 1)
        patch.setattr(compiling, "others", list)
        patch.setattr(compiling, "load", lambda modules: None)
        compiling.main()
    fraction = 1.0 / (1.0 + 1.25 ** steps[0])
    return fraction < 0.2, fraction > 0.02


def _yielding(folder):
    job = box_job(folder, motion=False, end=2, method={"kind": "vanilla"}, contact={})
    change(job, "bodies.0.pins_yield", True)
    loaded = load(job)
    [prepared] = prepare_all(loaded, _quiet)
    mass = prepared.material_data(loaded, prepared.volume.nodes, 0).mass
    return loaded, prepared, mass, make_compliant_pins(loaded, prepared, mass, 0)[0]


def pins_that_yield():
    """Whether a pin that yields is stiffer than a contact by more than a factor of ten, and by less than ten
    thousand."""
    with tempfile.TemporaryDirectory() as folder:
        loaded, prepared, mass, pins = _yielding(Path(folder))
        edge = mean_edge(prepared.volume.nodes, prepared.skin)
        of_contact = contact.RESISTS * (mass / loaded.scene.time.step**2 + prepared.resistance(edge))[pins.nodes]
        times = pins._stiffness / of_contact
        return bool((times > 10.0).all()), bool((times < 1e4).all())


def pins_that_are_reported():
    """Whether the log reports pins that gave way by so much of an edge."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for k, part in enumerate((0.02, 0.7)):
            _, prepared, _, pins = _yielding(Path(folder) / str(k))
            off = part * mean_edge(prepared.volume.nodes, prepared.skin)
            found.append(bool(pins.look(prepared.volume.nodes + [0.0, 0.0, off], 0.0)))
    return found


def jointed_bodies_in_each_other():
    """Whether jointed boxes of 1 m that are so deep in each other [m] pass through each other."""
    shape, found = Convex.box(np.ones(3)), []
    for deep in (0.005, 0.3):
        poses = np.tile(np.eye(4), (2, 1, 1))
        poses[1, 2, 3] = 1.0 - deep
        colliders = Colliders(Shapes.of([shape, shape]), np.array([0, 1], np.int32), np.tile(np.eye(4), (2, 1, 1)),
                              np.ones(2), np.array([-1, -1], np.int32), np.zeros(2, np.int32), np.array([True]),
                              np.zeros((0, 2), np.int32))
        tree = SimpleNamespace(count=2, parent=np.array([-1, 0], np.int32))
        found.append(len(_ignore_overlaps(colliders, tree, poses).excluded))
    return found


def quads_that_are_folded():
    """Whether quads collide along both diagonals that are folded by such angles [°]."""
    found = []
    for angle in np.deg2rad([10.0, 60.0]):
        x = np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 0.0], [2.0, 0.0, 0.0], [1.0, np.cos(angle), np.sin(angle)]])
        found.append(bool(_is_flat(np.array([[0, 1, 2, 3]]), x)[0]))
    return found


def points_of_one_node():
    """Whether points are single nodes that have another one with such weights."""
    return [_single(np.array([[4, 5]]), np.array([[1.0 - weight, weight]])) is not None for weight in (1e-14, 1e-3)]


def gaps_that_jump():
    """Whether nodes are prescribed whose displacement jumps by such parts of the scene's size."""
    found = []
    end = SimpleNamespace(nodes=np.array([[0]]), weights=np.ones((1, 1)))
    target = SimpleNamespace(nodes=np.array([[4]]), weights=np.ones((1, 1)))
    motion = SimpleNamespace(moves=False, at=lambda time: np.zeros((1, 3)))
    targets = SimpleNamespace(spans={(0, 1): slice(0, 1)}, motions=[motion])
    for jump in (1e-12, 1e-4):
        gap = SimpleNamespace(jump=jump, moves=False, at=lambda time: np.zeros(3))
        tie = SimpleNamespace(index=0, is_always_hard=True, kind=SimpleNamespace(displacement=gap), ends=[end, target],
                              constraint=SimpleNamespace(kind=SimpleNamespace(kind="ball")))
        rest = np.concatenate([np.eye(3), np.zeros((2, 3))])
        job = SimpleNamespace(scene=SimpleNamespace(contact=None))
        found.append(len(find_prescribed_ends(job, [tie], targets, 4, rest, np.ones(4, bool)).nodes))
    return found


def faces_of_a_ball():
    """Whether a ball has less than a thousand faces and more than nine tenths of its volume."""
    vertices, triangles = sphere(1.0)
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    volume = float(np.einsum("ti,ti->", np.cross(a, b), c)) / 6.0
    return len(triangles) < 1000, volume > 0.9 * 4.0 / 3.0 * np.pi


def links_that_go_on():
    """Numbers of pairs of links that resist bending at a knot of three, of which two turn by such angles [°]."""
    found = []
    for turn in np.deg2rad([20.0, 80.0]):
        x = np.array([[0.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [np.cos(turn), np.sin(turn), 0.0], [0.0, 0.0, 1.0]])
        found.append(len(bends_of(np.array([[0, 1], [0, 2], [0, 3]]), x)))
    return found


def _activation(gap, cells=(2, 2, 2)):
    """Distances at which forces begin between two blocks with such a gap [m], and within one, over the mean edge."""
    with tempfile.TemporaryDirectory() as folder:
        job = touching()(Path(folder) / "job")
        upper = np.load(job / "arrays" / "B_nodes.npy")
        np.save(job / "arrays" / "B_nodes.npy", upper + [0.0, 0.0, gap - 0.002])
        loaded = load(job)
        [prepared, _] = prepare_all(loaded, _quiet)
        law = world_of(loaded).parts[0].contacts[0]
        return law._activations[:2, :2] / mean_edge(prepared.volume.nodes, prepared.skin)


def distances_at_which_contact_begins():
    """Powers of two of the distance at which forces begin, relative to an edge: of a block with itself, and of blocks
    with gaps of so many edges."""
    return [np.round(np.log2(_activation(gap)[0]), 1).tolist() for gap in (1e-7, 2e-3, 0.05)]


def distances_of_a_body_to_itself():
    """Powers of two of the distance at which forces begin within a body whose arms nearly touch, relative to an
    edge."""
    nodes, tets = box_tets((3, 1, 3), (3.0, 1.0, 3.0))
    middle = nodes[tets].mean(axis=1)
    tets = tets[~((middle[:, 0] > 1.0) & (middle[:, 2] > 1.0) & (middle[:, 2] < 2.0))]
    nodes = nodes.copy()
    arm = (nodes[:, 2] > 1.5) & (nodes[:, 0] > 1.5)
    nodes[arm, 2] -= 0.99
    surfaces = contact.Surfaces(nodes, boundary_faces(tets)[0], np.full(len(nodes), -1), np.zeros(len(nodes), np.int64))
    edge = np.ones((1, 1))
    bounds = np.full((1, 1), contact.REACH)
    found = contact._activations(surfaces, nodes, nodes, np.zeros(len(nodes)), bounds, edge)
    return round(float(np.log2(found[0, 0])), 1)


def meshes_with_double_pieces():
    """Whether bodies that touch by their mesh are refused that have two plates so near each other [m]."""
    found = []
    for near in (1e-9, 1e-3):
        vertices, triangles = box((0.02, 0.02, 0.02), (0.18, 0.08, 0.05))
        other, more = box((0.02, 0.02, 0.05 + near), (0.18, 0.08, 0.08))
        with tempfile.TemporaryDirectory() as folder:
            job = box_job(Path(folder), motion=False, end=2, method={"kind": "vanilla"}, contact={},
                          integrator={"kind": "backward_euler"})
            np.save(job / "arrays/vertices.npy", np.concatenate([vertices, other]))
            np.save(job / "arrays/triangles.npy", np.concatenate([triangles, more + len(vertices)]).astype(np.int32))
            change(job, "bodies.0.surface", {"vertices": "arrays/vertices.npy", "triangles": "arrays/triangles.npy"})
            change(job, "bodies.0.touches_by_mesh", True)
            try:
                world_of(load(job))
                found.append(False)
            except BadScene as error:
                found.append("overlap" in error.what)
    return found


def vertices_outside_of_tetrahedra():
    """Numbers of vertices that are reported so many edges outside of a body's tetrahedra."""
    nodes, tets = box_tets((2, 2, 2), (2.0, 2.0, 2.0))
    found = []
    for out in (1.0, 6.0):
        weights = np.array([[1.0 + out, -out, 0.0, 0.0]])
        corners = tets[:1]
        at = np.einsum("nc,nci->ni", weights, nodes[corners])
        embedding = Embedding(np.zeros(1, np.int32), corners, weights, len(nodes))
        found.append(_measure_far_vertices(Volume(nodes, tets), embedding, at)[0])
    return found


def meshes_off_their_tetrahedra():
    """Whether a mesh is drawn on the ground by its own that is so far outside of its tetrahedra, relative to their
    extent."""
    nodes, tets = box_tets((2, 2, 2), (1.0, 1.0, 1.0))
    found = []
    for out in (0.004, 0.1):
        vertices, triangles = box((-out, -out, -out), (1 + out, 1 + out, 1 + out))
        body = SimpleNamespace(surface=SimpleNamespace(vertices="vertices", triangles="triangles"), cuts=())
        prepared = SimpleNamespace(volume=Volume(nodes, tets), embedding=True, body=body, skin=boundary_faces(tets)[0])
        arrays = {"vertices": vertices, "triangles": triangles}
        found.append(bool(measure_drawn_reach(SimpleNamespace(array=arrays.__getitem__), prepared).any()))
    return found


def bodies_in_the_ground():
    """Numbers of notes on bodies that begin so deep in the ground, relative to their size."""
    ground, found = Ground(np.zeros(3), UP), []
    for deep in (0.01, 0.3):
        body = SimpleNamespace(name="Ear", nodes=slice(0, 2), size=1.0)
        rest = np.array([[0.0, 0.0, -deep], [0.0, 0.0, 1.0]])
        found.append(len(notes_on_sunk_bodies([body], ground, rest, np.arange(2))))
    return found


def _support(**body):
    """The ground below walls for a body of 1 m, or for cloth."""
    scene = schema.Scene(version=1, name="sunk", time=schema.Time(start=1, end=2, fps=24.0, step=0.01),
                         bodies=[schema.Body(name="Ear", **body)],
                         ground=schema.Ground(point=(0.0, 0.0, 0.0), normal=(0.0, 0.0, 1.0)))
    return support_of(SimpleNamespace(array=lambda name: np.eye(3), scene=scene))


def walls_below_the_ground():
    """Whether walls reach deeper than a body sinks, a tenth of its extent and five times the thickness of cloth, and
    less than its whole extent and than a hundred times the thickness."""
    body = _support(tets=schema.Tets(nodes="nodes", tets="tets")).depth
    cloth = _support(cloth=schema.Cloth(thickness=0.001)).depth
    return 0.1 < body < 1.0, 0.005 < cloth < 0.1


def walls_above_the_ground():
    """Numbers of vertices of a box at so many depths above the ground that go on below it."""
    support, found = Support(Ground(np.zeros(3), UP), 0.1), []
    for above in (0.01, 0.3):
        vertices, triangles = box((0, 0, 0.1 * above), (1, 1, 2))
        found.append(len(support.shifts(vertices, triangles)[0]))
    return found


def slopes_on_the_ground():
    """Numbers of vertices that go on below the ground of faces that stand on an edge and whose normals have such angles
    to the upright one [°]."""
    support, found = Support(Ground(np.zeros(3), UP), 0.1), []
    for angle in np.deg2rad([30.0, 85.0, 120.0, 170.0]):
        corners = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-np.cos(angle), 0.0, np.sin(angle)]])
        found.append(len(support.shifts(corners, np.array([[0, 1, 2]]))[0]))
    return found


def meshes_that_are_thinned_too_little():
    """Whether a ball touches by its mesh that has so many faces for each one of its tetrahedra."""
    found = []
    for rings, cells in ((6, (2, 2, 2)), (28, (1, 1, 1))):
        vertices, triangles = globe(rings)
        nodes, tets = box_tets(cells, (2.2, 2.2, 2.2))
        volume, faces = Volume(nodes - 1.1, tets), triangles.astype(np.int32)
        embedding = bind(volume.nodes, tets, vertices, triangles)
        found.append(simplify_mesh(volume, embedding, faces, 1e-6) is not None)
    return found


def triangles_of_a_coarse_mesh():
    """Numbers of triangles into which a large triangle is divided for edges of a tenth, of a hundredth and of a
    thousandth, and one in a mesh of 8000."""
    one = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    first = np.array([[0, 1, 2]])
    return [len(subdivide(one, np.repeat(first, count, axis=0), longest)[1]) for count, longest in
            ((1, 0.2), (1, 1e-9), (8000, 1e-9), (4000, 1e-9))]


def edges_of_a_coarse_mesh():
    """Whether the edges of a box that touches by its mesh, of half its side, are divided, and none below a twentieth of
    it."""
    nodes, tets = box_tets((3, 3, 3), (1.0, 1.0, 1.0))
    used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
    triangles = corners.reshape(-1, 3).astype(np.int32)
    prepared = SimpleNamespace(volume=Volume(nodes, tets), embedding=bind(nodes, tets, nodes[used], triangles))
    subspace = SimpleNamespace(functions=np.zeros((len(nodes), 1)), prescribed=np.zeros((len(nodes), 0)))
    surface = touching_surface(SimpleNamespace(subspace=subspace), prepared, triangles)
    longest = np.linalg.norm(surface.rest[surface.triangles] - surface.rest[np.roll(surface.triangles, 1, axis=1)],
                             axis=2).max()
    return bool(longest < 0.3), bool(longest > 0.08)


UNITS = (
    faces_that_a_warp_runs_into, urgency_of_compiling, pins_that_yield, pins_that_are_reported,
    jointed_bodies_in_each_other, quads_that_are_folded, points_of_one_node, gaps_that_jump, faces_of_a_ball,
    links_that_go_on, distances_at_which_contact_begins, distances_of_a_body_to_itself, meshes_with_double_pieces,
    vertices_outside_of_tetrahedra, meshes_off_their_tetrahedra, bodies_in_the_ground, walls_below_the_ground,
    walls_above_the_ground, slopes_on_the_ground, meshes_that_are_thinned_too_little, triangles_of_a_coarse_mesh,
    edges_of_a_coarse_mesh)
