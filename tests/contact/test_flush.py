"""Bodies exactly against others, or in them by a hair, bake, though their tetrahedra stand out of their mesh."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from small_jobs import change
from touching import box, contact_job, hollow, obstacle, refused, sheet, soft
from worlds import nodes_of

from solver.job.load import load
from solver.meshing.volume import boundary_faces

SIZE, H = 0.2, 1 / 96


def block(name, low, arrays, out=1e-3, **more):
    """A cube that begins at a height, in tetrahedra that stand out of it [m]; its mesh has six faces."""
    nodes, tets = box((3,) * 3, (SIZE + 2 * out,) * 3, (-SIZE / 2 - out, -SIZE / 2 - out, low - out))
    arrays[f"{name}_vertices"], arrays[f"{name}_faces"] = hollow((SIZE,) * 3, (-SIZE / 2, -SIZE / 2, low))
    return soft(name, nodes, tets, arrays, modulus=1e5, surface={
        "vertices": f"arrays/{name}_vertices.npy", "triangles": f"arrays/{name}_faces.npy"}, **more)


def stack(folder, gap, floor=0.0, **scene):
    """Three cubes over each other and over a floor, so far apart [m]."""
    arrays = {}
    bodies = [block(f"Block{k}", k * (SIZE + gap), arrays) for k in range(3)]
    return contact_job(folder, bodies, [obstacle("Floor", *sheet(z=floor - gap), arrays)], arrays,
                       gravity=[0.0, 0.0, 0.0], stage_solver={"kind": "quick"}, integrator={"kind": "sdirk2"}, **scene)


@pytest.mark.parametrize("gap", [1e-3, 1e-4, 0.0, -0.002 * SIZE])
def test_what_touches_at_the_start_bakes_and_is_not_thrown(tmp_path, gap):
    part = nodes_of(load(stack(tmp_path, gap)))
    state = start = part.initial_state()
    shown = part.output(start, 1)
    for _ in range(4):
        state = part.step(state, H)
    moved = part.output(state, 2) - shown
    # some centimetres a second at the most: its six faces are large, so their barrier is as long as half a millimetre
    assert np.abs(moved).max() < 4e-3 * SIZE


def test_only_what_would_cross_touches_by_its_mesh(tmp_path):
    """At a gap of four tolerances the tetrahedra touch, as they do for less work."""
    far, near = (nodes_of(load(stack(tmp_path / str(gap), gap))).contacts[0] for gap in (4e-3, 1e-3))
    assert not hasattr(far, "embedded") and len(near.embedded.corners) == 3 * 8
    # no place of the mesh is moved where it is apart
    places = near.embedded.positions(nodes_of(load(tmp_path / "0.001")).rest)[near.embedded.nodes:]
    mesh = np.concatenate([hollow((SIZE,) * 3, (-SIZE / 2, -SIZE / 2, k * (SIZE + 1e-3)))[0] for k in range(3)])
    assert places == pytest.approx(mesh, abs=1e-12)


def book(name, at, arrays):
    """A book of 3 x 20 x 30 cm whose least corner is there; the areas of its faces differ by a factor of ten."""
    nodes, tets = box((1, 3, 4), (0.032, 0.202, 0.302), np.asarray(at) - 1e-3)
    arrays[f"{name}_vertices"], arrays[f"{name}_faces"] = hollow((0.03, 0.2, 0.3), at)
    return soft(name, nodes, tets, arrays, modulus=1e5, touches_by_mesh=True, surface={
        "vertices": f"arrays/{name}_vertices.npy", "triangles": f"arrays/{name}_faces.npy"})


def shelf(folder, gap):
    """A job of two books beside each other on a floor, so far apart [m]."""
    arrays = {}
    bodies = [book(f"Book{k}", (k * (0.03 + gap), 0.0, gap), arrays) for k in range(2)]
    return contact_job(folder, bodies, [obstacle("Floor", *sheet(2.0, z=0.0), arrays)], arrays,
                       gravity=[0.0, 0.0, 0.0], stage_solver={"kind": "quick"}, integrator={"kind": "sdirk2"})


@pytest.mark.parametrize("gap", [0.0, -0.002 * 0.3])
def test_flat_books_that_cross_by_a_hair_bake(tmp_path, gap):
    """A corner of them is led inwards by as much along each of its faces, whatever their areas."""
    part = nodes_of(load(shelf(tmp_path, gap)))
    assert part.step(part.initial_state(), H).time == pytest.approx(H)


def test_books_that_cross_by_far_are_reported_to_cross(tmp_path):
    """And not to lie on themselves, though their edges pass each other at no distance."""
    error = refused(shelf(tmp_path, -0.02))
    assert "crosses" in error and "pieces" not in error


def test_what_really_crosses_is_refused_as_before(tmp_path):
    error = refused(stack(tmp_path, -0.02 * SIZE))
    assert "crosses" in error and "Push Apart" in error


def test_what_crosses_by_just_as_much_as_it_is_led_inwards_bakes_too(tmp_path):
    """Led in by a thousandth of its size it would lie exactly on the floor, and be refused for that."""
    nodes, tets = box((3,) * 3, (SIZE,) * 3, (-SIZE / 2, -SIZE / 2, 0.0))
    arrays = {}
    used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
    arrays["Block_vertices"], arrays["Block_faces"] = nodes[used], corners.reshape(-1, 3).astype(np.int32)
    body = soft("Block", nodes, tets, arrays, modulus=1e5, surface={
        "vertices": "arrays/Block_vertices.npy", "triangles": "arrays/Block_faces.npy"})
    low = 1e-3 * SIZE * np.sqrt(2 / 3) - 3e-8  # so far up go its corners, the rest farther
    job = contact_job(tmp_path, [body], [obstacle("Floor", *sheet(z=low), arrays)], arrays,
                      gravity=[0.0, 0.0, 0.0], stage_solver={"kind": "quick"}, integrator={"kind": "sdirk2"})
    part = nodes_of(load(job))
    assert part.step(part.initial_state(), H).time == pytest.approx(H)


def test_cubes_of_turned_objects_are_led_inwards_as_far(tmp_path):
    """By a share of their extent along the objects' axes: along the world's, turned cubes lay deeper in each other."""
    places = []
    for number, turn in enumerate((np.eye(3), Rotation.from_euler("xyz", (40.0, 30.0, 0.0), degrees=True).as_matrix())):
        job = stack(tmp_path / str(number), -0.0015 * SIZE)
        back = np.eye(4)
        back[:3, :3] = turn.T
        np.save(job / "arrays/back.npy", np.tile(back, (25, 1, 1)))
        for k in range(3):
            np.save(job / f"arrays/local{k}.npy", np.load(job / f"arrays/Block{k}_vertices.npy"))
            change(job, f"bodies.{k}.surface.object_vertices", f"arrays/local{k}.npy")
            change(job, f"bodies.{k}.surface.to_object", "arrays/back.npy")
        for name in ("Block0", "Block1", "Block2", "Floor"):
            for path in job.glob(f"arrays/{name}_[vn]*.npy"):
                np.save(path, np.load(path) @ turn.T)
        part = nodes_of(load(job))
        embedded = part.contacts[0].embedded
        places.append(embedded.positions(part.rest)[embedded.nodes:] @ turn)
    assert places[1] == pytest.approx(places[0], abs=1e-9)
