"""A body's maps, handles and pins become numbers per element and roles of nodes, or a refusal with the field's path."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solver import catalogue
from solver.embedding.bind import bind
from solver.errors import BadScene, NoFreeNode
from solver.fields.build import build_fields
from solver.fields.dynamic import patches
from solver.job import schema, schema_values
from solver.meshing.grid import box_tets
from solver.meshing.volume import Volume, boundary_faces, tet_volumes

DATA = Path(__file__).resolve().parents[1] / "data"


class Bar:
    """A bar of 8 × 4 × 4 cells whose render mesh is its own boundary, and the arrays that a scene names."""

    def __init__(self):
        nodes, tets = box_tets((8, 4, 4), (0.8, 0.4, 0.4))
        self.volume = Volume(nodes, tets)
        used, corners = np.unique(boundary_faces(tets)[0], return_inverse=True)
        self.vertices, self.triangles = nodes[used], corners.reshape(-1, 3).astype(np.int32)
        self.embedding = bind(nodes, tets, self.vertices, self.triangles)
        self.arrays = {"vertices.npy": self.vertices, "triangles.npy": self.triangles}

    def name(self, key, values):
        self.arrays[f"{key}.npy"] = np.asarray(values)
        return f"{key}.npy"

    def fields(self, **settings):
        surface = schema.Surface(vertices="vertices.npy", triangles="triangles.npy")
        body = schema.Body(name="Bar", surface=surface, **settings)
        return build_fields(body, self.arrays.__getitem__, self.volume, self.embedding)


@pytest.fixture
def bar():
    return Bar()


def test_plain_numbers_reach_every_element(bar):
    material = schema_values.Choice(kind="stable_neo_hookean", params={"youngs_modulus": 5e4})
    fields = bar.fields(material=material, density=900.0)
    assert (fields.element_parameters["youngs_modulus"] == 5e4).all()
    assert (fields.element_parameters["poisson_ratio"] == catalogue.POISSON_RATIO.default).all()
    assert (fields.density == 900.0).all() and fields.density.shape == (len(bar.volume.tets),)
    assert len(fields.dynamic) == len(fields.pinned) == 0 and fields.motion is None


@pytest.mark.parametrize("material", catalogue.family("material"))
def test_every_paintable_parameter_blends(bar, material):
    """Log-linear where it has a unit, linear where it is a ratio; checked on a ramp along the bar."""
    ramp = bar.name("ramp", bar.vertices[:, 0] / 0.8)
    params = {param.key: param for param in catalogue.find("material", material).params if param.field}
    params[catalogue.DENSITY.key] = catalogue.DENSITY
    ends = {key: ((10.0, 1000.0) if param.unit else (0.1, 0.4)) for key, param in params.items()}
    painted = {key: schema.Painted(low=low, high=high, weights=ramp) for key, (low, high) in ends.items()}
    fields = bar.fields(material=schema_values.Choice(kind=material), painted=painted)
    along = bar.volume.nodes[bar.volume.tets].mean(axis=1)[:, 0] / 0.8
    for key, param in params.items():
        values = fields.density if key == "density" else fields.element_parameters[key]
        low, high = ends[key]
        expected = low * (high / low) ** along if param.unit else low + (high - low) * along
        assert values == pytest.approx(expected, rel=1e-8)


def test_painted_spots_give_one_node_each(bar):
    x, y, z = bar.vertices.T
    ends = (x > 0.75) | (x < 0.05)
    fields = bar.fields(dynamic=schema.Dynamic(weights=bar.name("spots", np.where(ends, 0.9, 0.5))))
    assert bar.volume.nodes[fields.dynamic] == pytest.approx(np.array([[0.0, 0.2, 0.2], [0.8, 0.2, 0.2]]))
    assert fields.dynamic.dtype == np.int32 and fields.notes == ()


def test_patches_hang_together_over_edges_only():
    triangles = np.array([[0, 1, 2], [1, 2, 3], [3, 4, 5]])
    weights = np.array([1.0, 0.9, 0.2, 0.4, 0.8, 0.7])
    assert [spot.tolist() for spot in patches(weights, triangles)] == [[0, 1], [4, 5]]
    assert patches(np.full(6, 0.5), triangles) == []
    assert [spot.tolist() for spot in patches(np.eye(6)[3], triangles)] == [[3]]


def test_two_spots_at_one_place_and_points_get_their_own_nodes(bar):
    x, y, z = bar.vertices.T
    points = np.array([[0.4, 0.2, 0.41], [0.4, 0.2, 0.2], [0.4, 0.2, 0.2]])
    ring = (np.abs(x - 0.4) < 0.01) & ((z < 0.01) | (z > 0.39))  # two spots with nothing in between
    fields = bar.fields(dynamic=schema.Dynamic(weights=bar.name("ring", ring.astype(float)),
                                               points=bar.name("points", points)))
    assert len(fields.dynamic) == len(set(fields.dynamic.tolist())) == 5
    border = np.unique(boundary_faces(bar.volume.tets)[0])
    assert len(np.setdiff1d(fields.dynamic, border)) == 3  # points pick interior nodes
    assert (np.diff(fields.dynamic) > 0).all()


def test_dynamic_node_is_never_pinned(bar):
    x = bar.vertices[:, 0]
    end = bar.name("end", (x < 0.15).astype(float))
    fields = bar.fields(dynamic=schema.Dynamic(weights=end, points=bar.name("at", [[0.0, 0.2, 0.2]])),
                        pin=schema.Pin(weights=end))
    assert len(fields.dynamic) == 2 and not np.isin(fields.dynamic, fields.pinned).any()
    assert bar.volume.nodes[fields.pinned][:, 0].max() < 0.25


def test_pinned_part_follows_its_vertices_and_stands_still_without(bar):
    x = bar.vertices[:, 0]
    weights = bar.name("left", (x < 0.25).astype(float))
    assert bar.fields(pin=schema.Pin(weights=weights)).motion is None
    animated = np.flatnonzero(x < 0.35)
    angle = np.linspace(0.0, 1.0, 7)
    turn = np.array([[[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]] for a in angle])
    pin = schema.Pin(weights=weights, motion_vertices=bar.name("told", animated),
                     motion=bar.name("motion", np.einsum("tij,sj->tsi", turn, bar.vertices[animated])))
    fields = bar.fields(pin=pin)
    expected = np.einsum("tij,sj->tsi", turn, bar.volume.nodes[fields.pinned])
    assert fields.motion.shape == (7, len(fields.pinned), 3) and fields.motion.dtype == np.float64
    assert np.abs(fields.motion - expected).max() < 1e-12


def test_interior_nodes_are_pinned_where_the_harmonic_field_is_high(bar):
    fields = bar.fields(pin=schema.Pin(weights=bar.name("half", (bar.vertices[:, 0] < 0.45).astype(float))))
    inside = np.setdiff1d(fields.pinned, np.unique(boundary_faces(bar.volume.tets)[0]))
    assert len(inside) and bar.volume.nodes[fields.pinned][:, 0].max() < 0.45


def test_volume_by_hand_takes_nodes_by_index():
    nodes, tets = box_tets((2, 2, 2), (1.0, 1.0, 1.0))
    motion = np.stack([nodes[[8, 2]], nodes[[8, 2]] + 1.0])
    arrays = {"p.npy": np.array([8, 2]), "m.npy": motion, "d.npy": np.array([13, 5])}
    body = schema.Body(name="Hand", tets=schema.Tets(nodes="n.npy", tets="t.npy"),
                       pin=schema.Pin(nodes="p.npy", node_motion="m.npy"), dynamic=schema.Dynamic(nodes="d.npy"))
    fields = build_fields(body, arrays.__getitem__, Volume(nodes, tets), None)
    assert fields.pinned.tolist() == [2, 8] and fields.dynamic.tolist() == [5, 13]
    assert np.array_equal(fields.motion, motion[:, ::-1])  # in the order of the pinned nodes
    arrays["d.npy"] = np.array([8])
    with pytest.raises(BadScene, match="Node 8 is both dynamic and pinned.*`dynamic.nodes`"):
        build_fields(body, arrays.__getitem__, Volume(nodes, tets), None)
    arrays["d.npy"] = np.array([27])
    with pytest.raises(BadScene, match="does not exist: there are 27.*`dynamic.nodes`"):
        build_fields(body, arrays.__getitem__, Volume(nodes, tets), None)


def test_all_pinned_is_refused_with_its_path(bar):
    with pytest.raises(NoFreeNode, match="Every node is pinned.*Unpaint.*`pin.weights`"):
        bar.fields(pin=schema.Pin(weights=bar.name("all", np.ones(len(bar.vertices)))))


def test_nothing_painted_is_reported(bar):
    empty = bar.name("empty", np.zeros(len(bar.vertices)))
    notes = " ".join(bar.fields(pin=schema.Pin(weights=empty), dynamic=schema.Dynamic(weights=empty)).notes)
    assert "Pin is painted on nothing" in notes and "Dynamic is painted on nothing" in notes


@pytest.mark.parametrize("weights, why", [(np.ones(3), "3 weights for"), (np.full(1, np.nan), "not numbers")])
def test_maps_that_do_not_fit_are_refused(bar, weights, why):
    values = np.resize(weights, len(bar.vertices)) if np.isnan(weights).any() else weights
    with pytest.raises(BadScene, match=f"{why}.*`dynamic.weights`"):
        bar.fields(dynamic=schema.Dynamic(weights=bar.name("bad", values)))
    with pytest.raises(BadScene, match=f"{why}.*`painted.density.weights`"):
        bar.fields(painted={"density": schema.Painted(low=1.0, high=2.0, weights="bad.npy")})


@pytest.mark.parametrize("key, low, high, end", [("youngs_modulus", 0.0, 1e4, "low"), ("density", 1.0, -5.0, "high"),
                                                 ("poisson_ratio", 0.2, 0.5, "high")])
def test_moduli_out_of_range_are_refused(bar, key, low, high, end):
    ramp = bar.name("ramp", bar.vertices[:, 0])
    with pytest.raises(BadScene, match=f"Use a value from.*`painted.{key}.{end}`"):
        bar.fields(painted={key: schema.Painted(low=low, high=high, weights=ramp)})


def test_suzanne_keeps_her_ears_apart():
    saved = np.load(DATA / "suzanne.npz")
    vertices = saved["vertices"]
    volume = Volume(saved["nodes"], saved["tets"])
    arrays = {"v.npy": vertices, "t.npy": saved["triangles"], "d.npy": (np.abs(vertices[:, 0]) > 0.065).astype(float),
              "p.npy": (vertices[:, 1] > 0.03).astype(float)}
    body = schema.Body(name="Suzanne", surface=schema.Surface(vertices="v.npy", triangles="t.npy"),
                       dynamic=schema.Dynamic(weights="d.npy"), pin=schema.Pin(weights="p.npy"))
    fields = build_fields(body, arrays.__getitem__, volume,
                          bind(volume.nodes, volume.tets, vertices, saved["triangles"]))
    assert np.sign(volume.nodes[fields.dynamic][:, 0]).tolist() in ([-1, 1], [1, -1])
    mass = (fields.density * tet_volumes(volume.nodes, volume.tets)).sum()
    assert 0.2 < mass < 1.0 and 20 < len(fields.pinned) < 400


def ends(bar, low=0.11, high=0.69):
    """Two attachments: one paints both ends above a half, the other the far end higher."""
    x = bar.vertices[:, 0]
    both = bar.name("both", np.where((x < low) | (x > high), 0.8, 0.0))
    far = bar.name("far", (x > high).astype(float))
    return [schema.Attach(mechanism="Arm", body="Upper", weights=both),
            schema.Attach(mechanism="Arm", body="Lower", weights=far)]


def test_nodes_follow_the_bone_that_is_painted_highest_and_pins_stay(bar):
    fields = bar.fields(attach=ends(bar), dynamic=schema.Dynamic(points=bar.name("tip", [[0.8, 0.2, 0.2]])))
    x = bar.volume.nodes[fields.attached][:, 0]
    assert x[fields.attached_by == 0].max() < 0.2 < 0.65 < x[fields.attached_by == 1].min()
    assert {0, 1} == set(fields.attached_by.tolist()) and (np.diff(fields.attached) > 0).all()
    inside = np.setdiff1d(fields.attached, np.unique(boundary_faces(bar.volume.tets)[0]))
    assert len(inside)
    # what a bone carries is not dynamic: the point takes the nearest node beside
    assert len(fields.dynamic) == 1 and not np.isin(fields.dynamic, fields.attached).any()

    pinned = bar.fields(attach=ends(bar), pin=schema.Pin(weights=bar.name("root", bar.vertices[:, 0] < 0.11)))
    assert not np.isin(pinned.pinned, pinned.attached).any() and set(pinned.attached_by.tolist()) == {1}
    assert [note for note in pinned.notes if "Upper" in note] == [
        'No node follows "Upper": its map is painted on nothing, or on an area smaller than a tetrahedron, or is '
        "pinned or attached elsewhere"]


def test_what_is_smaller_than_a_tetrahedron_is_pinned_and_attached():
    """One vertex by the node that is moved to it, six of them by nodes that keep it from turning."""
    bar = Bar()
    inner = len(bar.vertices)
    bar.vertices = np.concatenate([bar.vertices, [[0.03, 0.21, 0.22]], [
        [0.75, 0.4, 0.37], [0.76, 0.4, 0.37], [0.76, 0.4, 0.38], [0.75, 0.4, 0.38], [0.755, 0.4, 0.375]]])
    bar.embedding = bind(bar.volume.nodes, bar.volume.tets, bar.vertices, bar.triangles)
    bar.arrays["vertices.npy"] = bar.vertices
    one, five = np.zeros(len(bar.vertices)), np.zeros(len(bar.vertices))
    one[inner], five[inner + 1:] = 1.0, 1.0
    for fields in (bar.fields(pin=schema.Pin(weights=bar.name("one", one)),
                              attach=[schema.Attach(mechanism="Arm", body="Hand", weights=bar.name("five", five))]),
                   bar.fields(pin=schema.Pin(weights=bar.name("five", five)),
                              attach=[schema.Attach(mechanism="Arm", body="Hand", weights=bar.name("one", one))])):
        hinge, firm = sorted((fields.pinned, fields.attached), key=len)
        assert len(hinge) == 1 and fields.moved_nodes[hinge[0]] == pytest.approx(bar.vertices[inner])
        spread = np.linalg.svd(fields.moved_nodes[firm] - fields.moved_nodes[firm].mean(axis=0), compute_uv=False)
        assert len(firm) >= 3 and spread[1] > 0.02
        volumes = tet_volumes(bar.volume.nodes, bar.volume.tets)
        assert (tet_volumes(fields.moved_nodes, bar.volume.tets) >= 0.2 * volumes).all() and fields.notes == ()


def test_one_vertex_whose_paint_reaches_a_node_beside_it_is_a_hinge_at_its_own_place():
    """The node itself is moved to the vertex: it was held where it stood, and the vertex was drawn off its place."""
    bar = Bar()
    bar.vertices = bar.vertices.copy()
    vertex = int(np.linalg.norm(bar.vertices - [0.0, 0.2, 0.2], axis=1).argmin())
    bar.vertices[vertex] += [-0.02, 0.015, 0.01]
    bar.embedding = bind(bar.volume.nodes, bar.volume.tets, bar.vertices, bar.triangles)
    bar.arrays["vertices.npy"] = bar.vertices
    one = np.zeros(len(bar.vertices))
    one[vertex] = 1.0
    for role in ("pinned", "attached"):
        fields = bar.fields(**({"pin": schema.Pin(weights=bar.name("one", one))} if role == "pinned" else {
            "attach": [schema.Attach(mechanism="Arm", body="Hand", weights=bar.name("one", one))]}))
        [hinge] = getattr(fields, role)
        assert fields.moved_nodes[hinge] == pytest.approx(bar.vertices[vertex])


def test_listed_nodes_follow_before_painted_ones(bar):
    last = len(bar.volume.nodes) - 1
    listed = schema.Attach(mechanism="Arm", body="Hand", nodes=bar.name("hand", [last, 0]))
    fields = bar.fields(attach=[listed, *ends(bar)])
    assert fields.attached[fields.attached_by == 0].tolist() == [0, last] and bar.volume.nodes[last, 0] == 0.8
    with pytest.raises(BadScene, match=r"Node 0 is both pinned and attached.*`attach\[2\].nodes`"):
        bar.fields(attach=[*ends(bar), listed], pin=schema.Pin(nodes=bar.name("pins", [0])))
    with pytest.raises(BadScene, match="A carried node does not exist"):
        bar.name("hand", [99999])
        bar.fields(attach=[listed])


def test_a_body_that_bones_carry_whole_is_refused(bar):
    with pytest.raises(NoFreeNode, match="Every node is attached or pinned.*Attach less"):
        whole = bar.name("all", np.ones(len(bar.vertices)))
        bar.fields(attach=[schema.Attach(mechanism="Arm", body="Upper", weights=whole)])


def spots(bar, kind="mean", weights=None, points=None, radius=0.0, **settings):
    dynamic = schema.Dynamic(weights=weights, points=points)
    return bar.fields(dynamic=dynamic, spot=schema_values.Choice(kind, {"spot_radius": radius}), **settings)


def test_painted_spots_move_with_what_is_below_them():
    bar = Bar()
    painted = ((np.linalg.norm(bar.vertices - [0.6, 0.2, 0.4], axis=1) < 0.16)
               | (np.linalg.norm(bar.vertices - [0.2, 0.2, 0.4], axis=1) < 0.16)).astype(float)
    fields = spots(bar, weights=bar.name("dynamic", painted))
    assert len(fields.dynamic) == 0 and len(fields.patches) == 2
    nodes = bar.volume.nodes
    for patch, x in zip(fields.patches, sorted([0.2, 0.6])):
        assert np.linalg.norm(nodes[patch.nodes].mean(axis=0)[:2] - [x, 0.2]) < 0.05
        assert len(patch.nodes) > 5
    # what is pinned belongs to no spot
    pin = bar.name("pin", (bar.vertices[:, 0] < 0.15).astype(float))
    spots_beside_pins = spots(bar, weights=bar.name("dynamic", painted), pin=schema.Pin(weights=pin))
    of_patches = np.concatenate([patch.nodes for patch in spots_beside_pins.patches])
    assert not np.intersect1d(spots_beside_pins.pinned, of_patches).size


def test_a_spot_smaller_than_a_tetrahedron_is_one_node():
    bar = Bar()
    bar.vertices = np.concatenate([bar.vertices, bar.vertices[:1] + 1e-3])
    bar.embedding = bind(bar.volume.nodes, bar.volume.tets, bar.vertices, bar.triangles)
    bar.arrays["vertices.npy"] = bar.vertices
    fields = spots(bar, weights=bar.name("dynamic", np.append(np.zeros(len(bar.vertices) - 1), 0.6)))
    assert [len(patch.nodes) for patch in fields.patches] == [1]


def test_handles_take_what_is_around_them_and_share_nothing():
    bar = Bar()
    points = np.array([[0.3, 0.2, 0.2], [0.4, 0.2, 0.2], [0.4, 0.2, 5.0]])
    fields = spots(bar, "affine", points=bar.name("points", points), radius=0.15)
    sets = [set(patch.nodes.tolist()) for patch in fields.patches]
    assert len(sets) == 3 and len(sets[2]) == 1 and not sets[0] & sets[1]
    reach = np.linalg.norm(bar.volume.nodes[list(sets[0])] - points[0], axis=1)
    assert reach.max() <= 0.15 + 1e-9 and len(sets[0]) > 4
    assert spots(bar, "affine", points=bar.name("points", points[:1])).patches  # a tenth of the diagonal


def test_each_list_of_spots_moves_in_its_own_way_and_no_node_in_two():
    """Painted once as one and once by single nodes, around handles with their own radius; one list is as before."""
    bar = Bar()

    def around(x):
        return bar.name(f"at_{x}", (np.linalg.norm(bar.vertices - [x, 0.2, 0.4], axis=1) < 0.16).astype(float))

    def way(kind, radius=0.0):
        return schema_values.Choice(kind, {"spot_radius": radius})

    lists = [schema.Spots(way("turn"), around(0.45)), schema.Spots(None, around(0.7)),
             schema.Spots(way("affine", 0.12), points=bar.name("points", np.array([[0.7, 0.2, 0.1]])))]
    dynamic = schema.Dynamic(weights=around(0.2), spots=lists)
    fields = bar.fields(dynamic=dynamic, spot=way("mean"))
    first, second, third = fields.patches
    assert [patch.motions.__name__ for patch in fields.patches] == ["mean", "mean_and_rotation", "affine"]
    assert all(len(patch.nodes) > 3 for patch in fields.patches) and len(fields.dynamic) == 1
    nodes = np.concatenate([patch.nodes for patch in fields.patches] + [fields.dynamic])
    assert len(np.unique(nodes)) == len(nodes)
    reach = np.linalg.norm(bar.volume.nodes[third.nodes] - [0.7, 0.2, 0.1], axis=1)
    assert reach.max() <= 0.12 + 1e-9
    alone = spots(bar, weights=dynamic.weights).patches
    assert first.nodes.max() <= alone[0].nodes.max() and np.isin(first.nodes, alone[0].nodes).all()
    listed = bar.fields(dynamic=schema.Dynamic(spots=[schema.Spots(way("mean"), dynamic.weights)])).patches
    np.testing.assert_array_equal(listed[0].nodes, alone[0].nodes)


def test_spots_of_a_turned_object_are_as_wide():
    """Their radius is a share of the diagonal of the box along the axes of the object, which a turn leaves as it is."""
    found = []
    for turn in (np.eye(3), Rotation.from_euler("xyz", (0.0, 35.0, 45.0), degrees=True).as_matrix()):
        bar = Bar()
        bar.volume = replace(bar.volume, nodes=bar.volume.nodes @ turn.T, axes=turn)
        bar.vertices = bar.arrays["vertices.npy"] = bar.vertices @ turn.T
        bar.embedding = bind(bar.volume.nodes, bar.volume.tets, bar.vertices, bar.triangles)
        fields = spots(bar, points=bar.name("points", np.array([[0.6, 0.2, 0.4]]) @ turn.T))
        found.append([patch.nodes.tolist() for patch in fields.patches])
    assert len(found[0]) == 1 and found[1] == found[0]
