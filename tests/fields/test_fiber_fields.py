"""Which way fibers run: each source of the catalogue on a bar where the answer is known, and what it refuses."""

import numpy as np
import pytest
from test_build import Bar

from solver import catalogue
from solver.embedding.bind import bind
from solver.errors import BadScene
from solver.fields.build import build_fields
from solver.job import schema, schema_values
from solver.meshing.grid import box_tets
from solver.meshing.volume import Volume, boundary_faces

ASTVK = schema_values.Choice(kind="astvk")


@pytest.fixture
def bar():
    return Bar()


def directions(bar, kind, **settings):
    params = settings.pop("params", {})
    return bar.fields(fiber_material=ASTVK, fiber_field=schema_values.Choice(kind=kind, params=params), **settings)


def centres(bar):
    return bar.volume.nodes[bar.volume.tets].mean(axis=1)


def test_a_body_without_fiber_material_has_none(bar):
    fields = bar.fields(fibers=bar.name("ramp", bar.vertices[:, 0] / 0.8))
    assert fields.fiber_directions is None and fields.fiber_parameters == {}


def test_gradient_of_a_ramp_between_painted_ends_is_straight(bar):
    """Values between 0 and 1 only mark vertices as free: the field is harmonic, whatever was painted."""
    x = bar.vertices[:, 0]
    weights = np.where(x < 0.05, 0.0, np.where(x > 0.75, 1.0, 0.3 + 0.4 * np.random.default_rng(0).random(len(x))))
    fields = directions(bar, "gradient", fibers=bar.name("fibers", weights))
    assert fields.fiber_directions == pytest.approx(np.tile([1.0, 0.0, 0.0], (len(bar.volume.tets), 1)), abs=1e-6)
    assert fields.notes == ()  # nothing about fibers


def test_ends_without_a_belly_are_reported(bar):
    """A group that holds the insertion alone is 0 all over the rest, which makes an origin of the belly."""
    insertion = np.where(bar.vertices[:, 0] > 0.75, 1.0, 0.0)
    notes = directions(bar, "gradient", fibers=bar.name("fibers", insertion)).notes
    assert "paint the belly" in notes[0]
    ramp = directions(bar, "gradient", fibers=bar.name("ramp", bar.vertices[:, 0] / 0.8)).notes
    assert not any("belly" in note for note in ramp)


def test_gradient_follows_a_bend():
    """In a quarter ring from end to end φ is the angle, so fibers run around the centre; and no painted weight of the
    skin, which is free, pulls them towards itself."""
    nodes, tets = box_tets((24, 4, 2), (1.0, 0.4, 0.2))
    angle, radius = nodes[:, 0] * np.pi / 2, 0.6 + nodes[:, 1]
    ring = np.stack([radius * np.sin(angle), radius * np.cos(angle), nodes[:, 2]], axis=1)
    bar = Bar()
    bar.volume = Volume(ring, tets[:, [0, 1, 3, 2]])
    used, corners = np.unique(boundary_faces(bar.volume.tets)[0], return_inverse=True)
    bar.vertices, bar.triangles = ring[used], corners.reshape(-1, 3).astype(np.int32)
    bar.embedding = bind(ring, bar.volume.tets, bar.vertices, bar.triangles)
    bar.arrays = {"vertices.npy": bar.vertices, "triangles.npy": bar.triangles}
    along = directions(bar, "gradient", fibers=bar.name("fibers", nodes[used, 0])).fiber_directions
    where = centres(bar)
    around = np.stack([where[:, 1], -where[:, 0], np.zeros(len(where))], axis=1)
    around /= np.linalg.norm(around, axis=1)[:, None]
    middle = np.abs(np.arctan2(where[:, 0], where[:, 1]) - np.pi / 4) < np.pi / 8
    assert np.einsum("ei,ei->e", along, around)[middle].min() > np.cos(np.radians(4.0))


def test_straight_and_helix_stand_in_object_space(bar):
    """The object is turned by a quarter about z and its origin lies in the middle of the bar."""
    to_object = np.array([[0.0, 1, 0, -0.2], [-1, 0, 0, 0.4], [0, 0, 1, -0.2], [0, 0, 0, 1]])
    surface = schema.Surface(vertices="vertices.npy", triangles="triangles.npy",
                             to_object=bar.name("matrix", to_object[None]))
    plain = directions(bar, "straight", params={"fiber_y": -1.0, "fiber_z": 0.0})
    assert plain.fiber_directions == pytest.approx(np.tile([0.0, -1.0, 0.0], (len(bar.volume.tets), 1)))

    def placed(kind, **params):
        body = schema.Body(name="Bar", surface=surface, fiber_material=ASTVK,
                           fiber_field=schema_values.Choice(kind=kind, params=params))
        return build_fields(body, bar.arrays.__getitem__, bar.volume, bar.embedding).fiber_directions

    assert placed("straight", fiber_y=-1.0, fiber_z=0.0) == pytest.approx(
        np.tile([1.0, 0.0, 0.0], (len(bar.volume.tets), 1)))
    along = placed("helix", fiber_y=-1.0, fiber_z=0.0, fiber_angle=0.5)
    assert along[:, 0] == pytest.approx(np.cos(0.5))
    from_axis = centres(bar) - [0.4, 0.2, 0.2]
    from_axis[:, 0] = 0.0
    assert np.einsum("ei,ei->e", along, from_axis) == pytest.approx(0.0, abs=1e-12)
    assert (np.cross(from_axis, along)[:, 0] > 0).all()  # right-handed about +x
    assert np.linalg.norm(along, axis=1) == pytest.approx(1.0)


def test_a_helix_runs_along_its_axis_on_the_axis(bar):
    on_axis = {"fiber_x": 0.3, "fiber_z": 0.4}
    bar.volume.nodes[:] -= centres(bar)[0]  # the first element's centre comes to lie on the origin
    along = directions(bar, "helix", params=on_axis | {"fiber_angle": 1.0}).fiber_directions
    assert along[0] == pytest.approx([0.6, 0.0, 0.8])


def test_attribute_reaches_the_inside(bar):
    vectors = np.stack([np.ones(len(bar.vertices)), bar.vertices[:, 0], np.zeros(len(bar.vertices))], axis=1)
    along = directions(bar, "attribute", fiber_vectors=bar.name("vectors", vectors)).fiber_directions
    expected = np.stack([np.ones(len(along)), centres(bar)[:, 0], np.zeros(len(along))], axis=1)
    assert along == pytest.approx(expected / np.linalg.norm(expected, axis=1)[:, None], abs=1e-6)


def test_no_fiber_where_no_direction_is_given(bar):
    vectors = np.where(bar.vertices[:, :1] < 0.35, 0.0, [[0.0, 2.0, 0.0]])
    fields = directions(bar, "attribute", fiber_vectors=bar.name("vectors", vectors))
    at = centres(bar)[:, 0]
    assert fields.fiber_directions[at > 0.5] == pytest.approx(np.tile([0, 1.0, 0], ((at > 0.5).sum(), 1)))
    assert not directions(bar, "attribute", fiber_vectors=bar.name("none", 0 * vectors)).fiber_directions.any()
    assert "tetrahedra have no fiber" in directions(
        bar, "attribute", fiber_vectors=bar.name("none", 0 * vectors)).notes[0]


def test_combed_curves_count_alike_whichever_way_they_run(bar):
    """Two combs: along x in one half, along (1, 1, 0) in the other, each hair turned at random."""
    rng = np.random.default_rng(4)
    places = rng.random((400, 3)) * [0.8, 0.4, 0.4]
    tangents = np.where(places[:, :1] < 0.4, [[1.0, 0, 0]], [[1.0, 1.0, 0]]) * rng.choice([-3.0, 0.5], (400, 1))
    curves = np.stack([places, tangents], axis=1)
    along = directions(bar, "combed", fiber_curves=bar.name("curves", curves)).fiber_directions
    at = centres(bar)[:, 0]
    assert np.abs(along[at < 0.2, 0]).min() > np.cos(np.radians(5))
    assert np.abs(along[at > 0.6] @ [2**-0.5, 2**-0.5, 0]).min() > np.cos(np.radians(5))
    between = np.degrees(np.arctan2(along[:, 1], along[:, 0])) % 180
    assert 10 < np.median(between[np.abs(at - 0.4) < 0.03]) < 35  # smoothed, not torn


@pytest.mark.parametrize("kind, where", [("gradient", "fibers"), ("attribute", "fiber_vectors"),
                                         ("combed", "fiber_curves")])
def test_a_field_without_its_input_is_refused_with_its_path(bar, kind, where):
    with pytest.raises(BadScene) as refusal:
        directions(bar, kind)
    assert refusal.value.where == where and refusal.value.remedy


@pytest.mark.parametrize("kind", ["straight", "helix"])
def test_an_axis_of_no_length_is_refused(bar, kind):
    with pytest.raises(BadScene, match="no direction"):
        directions(bar, kind, params={"fiber_z": 0.0})


def test_a_map_of_one_weight_is_refused(bar):
    with pytest.raises(BadScene, match="is 1 everywhere"):
        directions(bar, "gradient", fibers=bar.name("ones", np.ones(len(bar.vertices))))


@pytest.mark.parametrize("kind", catalogue.family("fiber_material"))
def test_every_paintable_parameter_blends(bar, kind):
    ramp = bar.name("ramp", bar.vertices[:, 0] / 0.8)
    params = {param.key: param for param in catalogue.find("fiber_material", kind).params}
    assert all(param.field for param in params.values())
    ends = {key: ((10.0, 1000.0) if param.unit else (0.1, 0.4)) for key, param in params.items()}
    painted = {key: schema.Painted(low=low, high=high, weights=ramp) for key, (low, high) in ends.items()}
    fields = bar.fields(fiber_material=schema_values.Choice(kind=kind), painted=painted,
                        fiber_field=schema_values.Choice(kind="straight"))
    along = centres(bar)[:, 0] / 0.8
    for key, param in params.items():
        low, high = ends[key]
        expected = low * (high / low) ** along if param.unit else low + (high - low) * along
        assert fields.fiber_parameters[key] == pytest.approx(expected, rel=1e-8)
