"""Every field of the catalogue can be a map: a vertex group or a float attribute, with a value at either end."""

import bpy
import numpy as np
import pytest
from gathered_jobs import gathered, paint

import conjac
from solver import catalogue
from solver.job.load import load

FIELDS = {param.key: param for entry in (*catalogue.ENTRIES,) for param in entry.params if param.field}
FIELDS[catalogue.DENSITY.key] = catalogue.DENSITY


def map_of(key):
    entry, = (entry for entry in catalogue.maps().values() if key in {param.key for param in entry.params})
    return entry


def choose_for(settings, key):
    """Choose the first material, and fibers, that have this parameter."""
    for family in ("material", "fiber_material"):
        having = [entry.key for entry in catalogue.menu(family).values() if key in [p.key for p in entry.params]]
        if having:
            setattr(settings, family, having[-1])


def ends_inside(param):
    """Return two different values within a parameter's limits."""
    if param.unit:
        return 2.0 * param.default, 6.0 * param.default
    return 0.25 * param.low + 0.75 * param.soft_high, 0.5 * (param.low + param.soft_high)


def test_there_are_seven():
    assert FIELDS.keys() == {"youngs_modulus", "poisson_ratio", "mooney_share", "fiber_modulus", "fiber_stiffening",
                             "activation", "density"}
    assert map_of("youngs_modulus").key == "stiffness"


@pytest.mark.parametrize("source", ["group", "attribute"])
@pytest.mark.parametrize("key", sorted(FIELDS))
def test_each_field_may_be_painted(soft_cube, tmp_path, key, source):
    settings, entry = soft_cube.conjac, map_of(key)
    choose_for(settings, key)
    weights = np.array([0.25, 0, 1, 0.5, 0, 0, 0, 0])
    setattr(settings, f"{entry.key}_group", "Paint")
    if source == "group":
        for vertex, weight in enumerate(weights):
            paint(soft_cube, "Paint", [vertex], weight)
    else:
        soft_cube.data.attributes.new("Paint", "FLOAT", "POINT").data.foreach_set("value", weights)
    low, high = ends_inside(FIELDS[key])
    setattr(settings, key, low)
    setattr(settings, f"{key}_high", high)
    scene, array = gathered(soft_cube, tmp_path)
    painted = scene.bodies[0].painted
    assert painted.keys() == {key}
    assert (painted[key].low, painted[key].high) == (pytest.approx(low, rel=1e-6), pytest.approx(high, rel=1e-6))
    np.testing.assert_allclose(array(painted[key].weights), weights, atol=1e-6)
    load(tmp_path)  # and the solver takes it


def test_an_inverted_map_counts_the_other_way_wherever_it_is_read(soft_cube, tmp_path):
    """A bake, colors and the panel's counts invert it; vertices outside of the group are 1 then."""
    from conjac.conjac_addon.ui import advice, map_marks, painted_state

    settings = soft_cube.conjac
    for key, weights in (("pin", {0: 1.0, 1: 1.0}), ("stiffness", {0: 0.25, 1: 1.0})):
        setattr(settings, f"{key}_group", key.title())
        for vertex, weight in weights.items():
            paint(soft_cube, key.title(), [vertex], weight)
        setattr(settings, f"{key}_invert", True)
    bpy.context.view_layer.update()
    scene, array = gathered(soft_cube, tmp_path)
    [body] = scene.bodies
    np.testing.assert_allclose(array(body.pin.weights), [0, 0, 1, 1, 1, 1, 1, 1])
    np.testing.assert_allclose(array(body.painted["youngs_modulus"].weights), [0.75, 0, 1, 1, 1, 1, 1, 1])
    hard, soft = map_marks.pinned(soft_cube, bpy.context)
    assert (len(hard), len(soft)) == (6, 0)
    tints = map_marks.heat(soft_cube, "stiffness", bpy.context)[2]
    assert (tints[1] != tints[0]).any() and (tints[2:] == tints[2]).all() and (tints[2] != tints[0]).any()
    painted = painted_state.look_at(soft_cube)
    assert painted["pin"].startswith("6 of 8 vertices are held") and painted["stiffness"].startswith("7 of 8"), painted
    assert advice.is_painted(soft_cube, "pin")
    paint(soft_cube, "Pin", range(8), 1.0)
    assert not advice.is_painted(soft_cube, "pin")
    settings.pin_invert = False
    assert advice.is_painted(soft_cube, "pin")


def test_one_group_may_blend_several_fields(soft_cube, tmp_path):
    settings = soft_cube.conjac
    settings.stiffness_group = settings.density_group = settings.poisson_ratio_group = "Bone"
    paint(soft_cube, "Bone", [1, 2], 0.5)
    scene, array = gathered(soft_cube, tmp_path)
    painted = scene.bodies[0].painted
    assert painted.keys() == {"youngs_modulus", "density", "poisson_ratio"}
    for blend in painted.values():
        assert array(blend.weights).tolist() == [0, 0.5, 0.5, 0, 0, 0, 0, 0]
    assert painted["density"].high == 10 * painted["density"].low and painted["poisson_ratio"].high == 0.49


def test_a_group_is_a_map_only_where_the_artist_says_so(soft_cube, tmp_path):
    """"Density" may be for hair; the group "Stiffness" was always one."""
    for name in ("Density", "Poisson Ratio", "Stiffness"):
        paint(soft_cube, name, [0])
    assert gathered(soft_cube, tmp_path)[0].bodies[0].painted.keys() == {"youngs_modulus"}


def test_a_field_that_the_material_does_not_have_is_not_gathered(soft_cube, tmp_path):
    settings = soft_cube.conjac
    settings.mooney_share_group = settings.fiber_modulus_group = "Gone"
    assert gathered(soft_cube, tmp_path)[0].bodies[0].painted == {}
    settings.material = "mooney_rivlin"
    with pytest.raises(conjac.solver.errors.NoSuchThing) as caught:
        gathered(soft_cube, tmp_path)
    assert str(caught.value) == ('"Cube": there is no vertex group "Gone" for Mooney Share, nor such a float attribute.'
                                 " Choose another one in the ConJac panel, or paint it; modifiers below ConJac's do "
                                 "not count.")


@pytest.mark.parametrize("domain, kind", [("FACE", "FLOAT"), ("POINT", "FLOAT_VECTOR")])
def test_an_attribute_of_another_kind_is_refused(soft_cube, tmp_path, domain, kind):
    soft_cube.data.attributes.new("Heavy", kind, domain)
    soft_cube.conjac.density_group = "Heavy"
    with pytest.raises(conjac.solver.errors.BadInput, match='"Heavy" for Density is not one of floats on vertices'):
        gathered(soft_cube, tmp_path)


def test_values_outside_of_0_to_1_are_clamped_and_reported(soft_cube, tmp_path):
    attribute = soft_cube.data.attributes.new("Heavy", "FLOAT", "POINT")
    attribute.data.foreach_set("value", [0.5, -0.25, 3.0, 1.00001, np.nan, 0, 0, 0])
    soft_cube.conjac.density_group, notes = "Heavy", []
    scene, array = gathered(soft_cube, tmp_path, notes=notes)
    assert array(scene.bodies[0].painted["density"].weights).tolist() == [0.5, 0, 1, 1, 0, 0, 0, 0]
    lost, clamped = (note for note in notes if "Heavy" in note)
    assert lost == '"Cube": one value of "Heavy" for Density is not a number and counts as 0'
    assert clamped == '"Cube": 2 values of "Heavy" for Density, such as -0.25, are outside 0 to 1 and are clamped'


def test_an_attribute_of_geometry_nodes_is_read_and_found(soft_cube, tmp_path):
    nodes = bpy.data.node_groups.new("Paints", "GeometryNodeTree")
    nodes.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    nodes.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    store = nodes.nodes.new("GeometryNodeStoreNamedAttribute")
    store.data_type, store.domain = "FLOAT", "POINT"
    store.inputs["Name"].default_value = "made"
    next(socket for socket in store.inputs if socket.name == "Value" and socket.enabled).default_value = 0.5
    begin, end = nodes.nodes.new("NodeGroupInput"), nodes.nodes.new("NodeGroupOutput")
    nodes.links.new(begin.outputs[0], store.inputs["Geometry"])
    nodes.links.new(store.outputs["Geometry"], end.inputs[0])
    soft_cube.modifiers.new("Paints", "NODES").node_group = nodes
    soft_cube.conjac.density_group = "made"
    scene, array = gathered(soft_cube, tmp_path)
    assert array(scene.bodies[0].painted["density"].weights).tolist() == [0.5] * 8
    from conjac.conjac_addon.handles import painted_names

    soft_cube.vertex_groups.new(name="Ear")
    assert painted_names(soft_cube.conjac, bpy.context, "") == ["Ear", "made"]


def test_keyframes_of_activation_are_times_what_is_painted(soft_cube, tmp_path):
    from conjac.conjac_addon.gather import changed_settings

    settings, scene = soft_cube.conjac, bpy.context.scene
    settings.fiber_material, settings.fiber_field, settings.activation_group = "afung", "straight", "Belly"
    settings.activation, settings.activation_high = 0.3, 0.8
    paint(soft_cube, "Belly", [0])
    blend = gathered(soft_cube, tmp_path)[0].bodies[0].painted["activation"]
    assert (blend.low, blend.high) == pytest.approx((0.3, 0.8))
    assert changed_settings(soft_cube, scene, tmp_path) == []
    soft_cube.keyframe_insert("conjac.activation", frame=1)
    body = gathered(soft_cube, tmp_path)[0].bodies[0]
    assert (body.painted["activation"].low, body.painted["activation"].high) == pytest.approx((0.0, 0.8))
    assert body.fiber_activation and changed_settings(soft_cube, scene, tmp_path) == []
    settings.activation_high = 0.7
    assert changed_settings(soft_cube, scene, tmp_path) == ["Activation (Painted)"]
    load(tmp_path)


def test_how_spots_move_is_shown_where_it_is_chosen(soft_cube, tmp_path):
    settings = soft_cube.conjac
    settings.solver.method = "conjac"
    paint(soft_cube, settings.dynamic_group or "Dynamic", [0, 1], 1.0)
    settings.spot = "none"
    assert gathered(soft_cube, tmp_path / "one")[0].bodies[0].spot is None
    settings.spot, settings.spot_radius = "turn", 0.25
    spot = gathered(soft_cube, tmp_path / "all")[0].bodies[0].spot
    assert (spot.kind, spot.params) == ("turn", {"spot_radius": 0.25})


def test_new_bodies_have_spots_that_move_and_turn_as_one_and_old_files_single_nodes(soft_cube):
    bpy.ops.mesh.primitive_cube_add()
    new = bpy.context.object
    assert new.conjac.spot == "none"
    bpy.ops.conjac.add_soft_body()
    assert new.conjac.spot == "turn"


def test_each_group_of_spots_and_each_handle_may_move_in_a_way_of_its_own(soft_cube, tmp_path):
    """A kind is painted by the button, written to the job, and refused by name if the group is missing."""
    from conjac.conjac_addon.gather import changed_settings

    settings = soft_cube.conjac
    settings.method, settings.spot_radius = "conjac", 0.25
    paint(soft_cube, "Dynamic", [0])
    for kind in ("turn", "none"):
        assert bpy.ops.conjac.add_spots() == {"FINISHED"} and soft_cube.mode == "WEIGHT_PAINT"
        bpy.ops.object.mode_set(mode="OBJECT")
        settings.spots[-1].spot = kind
    assert [spot.group for spot in settings.spots] == ["Spots", "Spots.001"]
    paint(soft_cube, "Spots", [6, 7])
    paint(soft_cube, "Spots.001", [3])
    for x, kind in ((1.0, "affine"), (-1.0, "body"), (0.0, "affine")):
        bpy.ops.object.empty_add(location=(x, 0, 0))
        handle = settings.handles.add()
        handle.object, handle.spot = bpy.context.object, kind
    bpy.context.view_layer.objects.active = soft_cube
    scene, array = gathered(soft_cube, tmp_path)
    body = scene.bodies[0]
    assert body.spot is None and array(body.dynamic.points).tolist() == [[-1, 0, 0]]
    painted, alone, around = body.dynamic.spots
    assert painted.spot.kind == "turn" and np.flatnonzero(array(painted.weights)).tolist() == [6, 7]
    assert alone.spot is None and np.flatnonzero(array(alone.weights)).tolist() == [3]
    assert (around.spot.kind, around.spot.params) == ("affine", {"spot_radius": 0.25})
    assert array(around.points).tolist() == [[1, 0, 0], [0, 0, 0]]
    load(tmp_path)
    assert changed_settings(soft_cube, bpy.context.scene, tmp_path) == []
    assert bpy.ops.conjac.remove_spots(index=1) == {"FINISHED"} and len(settings.spots) == 1
    settings.spots[0].group = "Gone"
    with pytest.raises(conjac.solver.errors.NoSuchThing, match='there is no vertex group "Gone" for spots'):
        gathered(soft_cube, tmp_path)


def test_a_new_body_on_which_nothing_is_painted_gets_spots(addon, tmp_path):
    from conjac.conjac_addon.ui import advice

    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.conjac.add_soft_body()
    cube = bpy.context.object
    cube.conjac.method, cube.conjac.suggestions = "conjac", 3
    assert gathered(cube, tmp_path / "none")[0].bodies[0].dynamic.suggested == 3
    message = next(hint.text for hint in advice.look_at(cube, bpy.context.scene) if hint.key == "wobble")
    assert message == "A bake puts 3 dynamic spots where it swings most: it has none of its own"
    paint(cube, "Dynamic", [0])
    assert gathered(cube, tmp_path / "painted")[0].bodies[0].dynamic.suggested is None
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.conjac.enabled = True  # as in files from before
    bpy.context.object.conjac.method = "conjac"
    assert gathered(bpy.context.object, tmp_path / "old")[0].bodies[0].dynamic.suggested is None
