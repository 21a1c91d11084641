"""Panels draw what exists: names are checked against Blender's own descriptions of properties and operators."""

import bpy
import pytest
from drawn_panels import Context, FakeLayout, advised, drawn, mechanism, panels


def test_a_checkbox_in_a_header_stands_at_its_left(soft_cube):
    """Two columns would put it in the middle, beside an empty half."""
    from conjac.conjac_addon.ui import panels as sections

    seen = []

    class Headers(FakeLayout):
        own = frozenset({"log", "header"})

        def panel(self, idname, default_closed=False):
            seen.append((idname, FakeLayout(self.log)))
            seen[-1][1].use_property_split = True  # as what is above
            return seen[-1][1], Headers(self.log) if idname == "CONJAC_contact" else None  # which has one in it

    sections._draw(type("Panel", (), {"layout": Headers([]), "bl_space_type": "VIEW_3D"})(), Context(soft_cube))
    ticked = {f"CONJAC_{section.key}" for section in sections.SECTIONS if section.draw_header}
    headers = [header for idname, header in seen if idname in ticked]
    assert headers and not any(header.use_property_split for header in headers)

    soft_cube.conjac.kind = "cloth"
    closed = Headers([])
    sections._draw(type("Panel", (), {"layout": closed, "bl_space_type": "VIEW_3D"})(), Context(soft_cube))
    assert ("prop", "sharp_edges") in closed.log  # found without a look into the section


def test_drawing_goes_once_through_the_objects_of_a_scene(soft_cube, monkeypatch):
    from conjac.conjac_addon import members

    looks, look_up = [], members._look_up
    monkeypatch.setattr(members, "_look_up", lambda scene: looks.append(scene) or look_up(scene))
    soft_cube.conjac.contact.collides_with = "all"
    drawn(soft_cube)
    assert looks == [bpy.context.scene]
    # another draw sees what has come since
    bpy.ops.mesh.primitive_cube_add(location=(9, 0, 0))
    bpy.context.object.conjac.kind, bpy.context.object.name = "collider", "Table"
    assert any("Table" in str(text) for kind, text in drawn(soft_cube) if kind == "label")
    assert members._moment is None


def test_sidebar_and_physics_tab_show_the_same(soft_cube):
    assert {cls.bl_category for cls in panels() if cls.bl_space_type == "VIEW_3D"} == {"ConJac"}
    assert {cls.bl_context for cls in panels() if cls.bl_space_type == "PROPERTIES"} == {"physics"}
    assert drawn(soft_cube) == drawn(soft_cube, "physics")
    assert len(drawn(soft_cube)) > 30


def test_every_setting_of_the_catalogue_can_be_reached(soft_cube):
    from conjac.conjac_addon import settings
    from conjac.solver import catalogue

    bpy.ops.object.empty_add()
    soft_cube.conjac.handles.add().object = bpy.context.object
    soft_cube.conjac.cuts.add()
    soft_cube.conjac.nails.add()
    soft_cube.conjac.pulls.add()
    for entry in catalogue.maps().values():
        soft_cube.vertex_groups.new(name=entry.label)
        setattr(soft_cube.conjac, f"{entry.key}_group", entry.label)
    soft_cube.conjac.fiber_material, soft_cube.conjac.soft_pins = "afung", True
    soft_cube.conjac.follow_object = bpy.context.object
    shown = set()
    for family in settings.FAMILIES:
        if family == "stage_solver":
            soft_cube.conjac.integrator = "sdirk2"  # one that has any
        if family == "spot":
            soft_cube.conjac.method = "conjac"  # whose they are
        for key in catalogue.menu(family):
            setattr(soft_cube.conjac, family, key)
            shown |= {name for kind, name in drawn(soft_cube) if kind == "prop"}
    soft_cube.conjac.kind = "cloth"
    shown |= {name for kind, name in drawn(soft_cube) if kind == "prop"}
    soft_cube.conjac.kind = "rope"
    for length in catalogue.menu("rope"):
        soft_cube.conjac.rope = length
        shown |= {name for kind, name in drawn(soft_cube) if kind == "prop"}
    soft_cube.conjac.kind = "soft_body"
    soft_cube.conjac.use_scene_range = False
    shown |= {name for kind, name in drawn(soft_cube) if kind == "prop"}
    hidden = {"rna_type", "name", "version", "kind", "enabled", "solver", "handles", "spots", "cuts", "nails", "pulls",
              "welds", "constraints", "attachments", "mechanism", "part", "cache", "contact",
              "simulate_after", "simulate_after_uid",  # by a menu of its own: test_simulate_after.py
              "quality", "by_button", "as_played"}  # test_quality.py, test_by_button.py, test_bake_as_played.py
    for group in (soft_cube.conjac, soft_cube.conjac.solver):  # old names are those of the solver's
        assert {name.removeprefix("dial_") for name in group.bl_rna.properties.keys()} - hidden <= shown


@pytest.mark.parametrize("add", [lambda: bpy.data.objects["Cube"], mechanism], ids=["soft body", "mechanism"])
def test_damping_is_grey_where_the_integrator_has_one_of_its_own(soft_cube, add):
    obj = add()
    obj.conjac.integrator = "semi_implicit"
    assert ("prop", "beta") in drawn(obj) and ("grey", "beta") not in drawn(obj)
    obj.conjac.integrator = "sdirk2"
    assert ("grey", "beta") in drawn(obj)


def test_an_integrator_without_friction_has_a_hint(soft_cube):
    def is_hinted():
        return "has no friction" in " ".join(str(text) for kind, text in drawn(soft_cube) if kind == "label")

    soft_cube.conjac.integrator = "str_bdf2"
    assert not is_hinted()
    soft_cube.conjac.friction = "coulomb"
    assert is_hinted()
    soft_cube.conjac.integrator = "ssdirk2"
    assert not is_hinted()


def test_what_means_nothing_with_the_present_method_is_grey(soft_cube):
    soft_cube.conjac.method = "conjac"
    assert ("grey", "conjac.add_handle") not in drawn(soft_cube)
    soft_cube.conjac.method = "vanilla"
    log = drawn(soft_cube)
    assert ("grey", "conjac.add_handle") in log
    # Dynamic, Fibers of a body without any, Friction of one that collides with nothing; never Pin
    assert log.count(("operator", "conjac.add_group")) - log.count(("grey", "conjac.add_group")) >= 1
    assert log.count(("grey", "conjac.add_group")) == 3


def test_a_map_begins_with_a_button_and_then_has_a_group_to_choose(soft_cube):
    assert ("prop", "pin_group") not in drawn(soft_cube)
    soft_cube.vertex_groups.new(name="Pin")
    assert ("prop", "pin_group") in drawn(soft_cube)
    soft_cube.conjac.dynamic_group = "Gone"  # the field is red
    assert ("prop", "dynamic_group") in drawn(soft_cube)


def test_one_hint_says_that_method_and_integrator_do_not_go_together(soft_cube):
    def labels():
        return " ".join(str(text) for kind, text in drawn(soft_cube) if kind == "label")

    soft_cube.conjac.method, soft_cube.conjac.integrator = "conjac", "midpoint"
    assert "moves every node" in labels() and "has its own iterations" not in labels()
    soft_cube.conjac.integrator = "bdf2"
    assert "moves every node" not in labels() and "has its own iterations" in labels()


def test_material_maps_show_both_ends_once_there_is_one(soft_cube):
    def fields():
        """Return the fields of the material's maps."""
        log = []
        painted.draw_fields(FakeLayout(log), Context(soft_cube))
        return {name for kind, name in log if kind == "prop"}

    from conjac.conjac_addon.ui import painted

    properties = {f"{key}_{what}" for key in ("poisson_ratio", "density") for what in ("group", "invert")}
    assert fields() == {"carry", *properties}  # and Stiffness is a button
    soft_cube.conjac.density_group = "Density"
    assert fields() == {"carry", *properties, "density", "density_high"}
    soft_cube.vertex_groups.new(name="Stiffness")
    soft_cube.conjac.material, soft_cube.conjac.fiber_material = "mooney_rivlin", "astvk"
    assert fields() > {"stiffness_group", "stiffness_invert", "youngs_modulus", "youngs_modulus_high",
                       "mooney_share_group", "fiber_modulus_group"}
    assert "activation_group" not in fields()


def test_contact_can_be_set_and_says_whom_it_touches(soft_cube):
    def labels(obj):
        return " ".join(text for kind, text in drawn(obj) if kind == "label")

    contact = soft_cube.conjac.contact
    shown = {name for kind, name in drawn(soft_cube) if kind == "prop"}
    contact.is_collider = True
    shown |= {name for kind, name in drawn(soft_cube) if kind == "prop"}
    for key in ("all", "collection"):
        contact.collides_with = key
        shown |= {name for kind, name in drawn(soft_cube) if kind == "prop"}
    assert set(contact.bl_rna.properties.keys()) - {"rna_type", "name"} <= shown
    assert "touches nothing yet: choose the Collection" in labels(soft_cube)
    contact.collection = chosen = bpy.data.collections.new("Chosen")
    assert '"Chosen" has no collider' in labels(soft_cube)
    chosen.objects.link(soft_cube)  # it is no other than itself
    assert '"Chosen" has no collider' in labels(soft_cube)
    contact.collides_with, contact.itself = "all", True
    bpy.ops.mesh.primitive_plane_add()
    plane = bpy.context.object
    bpy.ops.conjac.add_collider()
    assert {name for kind, name in drawn(plane) if kind == "prop"} == {"friction", "thickness"}
    assert "It touches Plane, itself" in labels(soft_cube)
    assert "does not know contact" not in labels(soft_cube)
    bpy.ops.mesh.primitive_ico_sphere_add()
    ball = bpy.context.object
    bpy.ops.conjac.add_soft_body()
    assert "Baked together: Cube, Icosphere" in labels(soft_cube) and "Baked together" in labels(ball)
    assert "It touches Cube, Plane" in labels(ball)


def test_pins_that_yield_without_self_collision_say_what_they_do_to_the_body(soft_cube):
    def is_hinted():
        return "it passes through itself" in " ".join(text for kind, text in drawn(soft_cube) if kind == "label")

    contact = soft_cube.conjac.contact
    contact.collides_with = "all"
    assert not is_hinted()
    contact.pins_yield = True
    assert is_hinted()
    contact.itself = True
    assert not is_hinted()


def test_every_operator_has_a_button(soft_cube):
    bpy.ops.object.empty_add()
    soft_cube.conjac.handles.add().object = bpy.context.object
    soft_cube.conjac.cuts.add()
    soft_cube.conjac.nails.add()
    soft_cube.conjac.pulls.add()
    soft_cube.conjac.spots.add()
    soft_cube.conjac.cuts.add()
    soft_cube.conjac.welds.add()
    soft_cube.conjac.constraints.add()
    soft_cube.conjac.fiber_material = "astvk"
    soft_cube.modifiers.new("Fine", "SUBSURF")
    buttons = {name for kind, name in drawn(soft_cube) if kind == "operator"}
    soft_cube.conjac.attachments.add()
    buttons |= {name for kind, name in drawn(soft_cube) if kind == "operator"}
    soft_cube.conjac.kind = "cloth"
    buttons |= {name for kind, name in drawn(soft_cube) if kind == "operator"}
    soft_cube.conjac.enabled = False
    bpy.context.view_layer.objects.active = soft_cube
    bpy.ops.rigidbody.object_add()
    buttons |= {name for kind, name in drawn(soft_cube) if kind == "operator"}
    bpy.ops.curve.primitive_bezier_curve_add()
    buttons |= {name for kind, name in drawn(bpy.context.object) if kind == "operator"}
    soft_cube.conjac.enabled = True
    buttons |= {name for kind, name in advised(soft_cube) if kind == "operator"}
    soft_cube.conjac.attachments.clear()
    soft_cube.conjac.nails.clear()
    bpy.ops.mesh.primitive_plane_add(size=9, location=(0, 0, -3))  # it falls through that
    bpy.ops.mesh.primitive_cube_add()
    bpy.context.object.conjac.enabled = True
    buttons |= {name for kind, name in advised(soft_cube) if kind == "operator"}
    bpy.ops.conjac.collide()
    buttons |= {name for kind, name in drawn(soft_cube) if kind == "operator"}
    bpy.context.object.conjac.contact.collides_with = "none"
    for rig in (mechanism(), mechanism()):
        buttons |= {name for kind, name in drawn(rig) if kind == "operator"}
        rig.conjac.enabled = False
        buttons |= {name for kind, name in drawn(rig) if kind == "operator"}
    rig = mechanism()
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.conjac.add_collider()
    soft_cube.conjac.contact.collides_with, rig.conjac.mechanism.touch_soft = "all", True
    buttons |= {name for kind, name in advised(rig) if kind == "operator"}
    bpy.ops.mesh.primitive_plane_add()
    bpy.context.object.conjac.enabled = True  # flat
    buttons |= {name for kind, name in advised(bpy.context.object) if kind == "operator"}
    bpy.context.object.conjac.use_ground, bpy.context.object.conjac.ground_height = True, -2.0
    bpy.context.object.conjac.contact.collides_with = "none"
    buttons |= {name for kind, name in advised(bpy.context.object) if kind == "operator"}
    bpy.ops.conjac.add_group(map="pin")
    buttons |= {name for kind, name in drawn(bpy.context.object) if kind == "operator"}
    bpy.ops.conjac.done_painting()
    bpy.context.object.conjac.kind = "rope"
    buttons |= {name for kind, name in drawn(bpy.context.object) if kind == "operator"}
    only_while_baking = {"conjac.pause", "conjac.cancel", "conjac.break_lock"}
    elsewhere = {"conjac.shared_bakes"}  # by windows
    elsewhere |= {"conjac.use_take", "conjac.compare_take", "conjac.remove_take"}  # where there is one: test_takes.py
    elsewhere |= {"conjac.record_live", "conjac.as_played"}  # while it plays live, and then: test_bake_as_played.py
    elsewhere |= {"conjac.collide_with_itself"}  # where a bake shows that it is needed: test_through_itself.py
    elsewhere |= {"conjac.make_own"}  # beside what a button has chosen: test_by_button.py
    # in Object > Quick Effects and in Add: test_quick_effects.py, test_ready_scenes.py
    quick = {"conjac.quick_jelly", "conjac.quick_cloth", "conjac.add_ready", "conjac.add_sample"}
    assert {f"conjac.{name}" for name in dir(bpy.ops.conjac)} == buttons | only_while_baking | elsewhere | quick


def test_another_object_shows_one_button_or_nothing(addon):
    bpy.ops.mesh.primitive_cube_add()
    assert drawn(bpy.context.object) == [("operator", "conjac.add_soft_body"), ("operator", "conjac.add_cloth"),
                                           ("operator", "conjac.add_collider")]
    bpy.ops.object.light_add()
    assert not [item for item in drawn(bpy.context.object) if item[0] != "label"]
    assert not [entry for entry in drawn(None) if entry[0] != "label"]


def test_the_hints_an_artist_needs(soft_cube):
    def labels():
        return " ".join(text for kind, text in drawn(soft_cube) if kind == "label")

    assert "bend too stiffly" in labels() and "6 layers" in labels()
    assert "quasistatic" in labels()
    group = soft_cube.vertex_groups.new(name="Dynamic")
    advised(soft_cube)
    assert "quasistatic" in labels()  # nothing is painted yet
    group.add([0], 1.0, "REPLACE")
    advised(soft_cube)
    assert "quasistatic" not in labels()


def test_fields_show_the_digits_of_their_numbers(soft_cube):
    from conjac.conjac_addon import parts, settings

    for group in (*parts.classes, *settings.classes):
        for prop in group.bl_rna.properties:
            # what has a unit is shown in one that fits: ms, mm
            if prop.type == "FLOAT" and prop.unit == "NONE" and prop.default:
                assert round(prop.default, prop.precision) == pytest.approx(prop.default, rel=0.01), prop.identifier


def test_a_number_too_small_for_its_field_is_shown_below(soft_cube):
    def hints():
        return [text for kind, text in drawn(soft_cube) if kind == "label" and str(text).startswith("Tolerance")]

    soft_cube.conjac.integrator, soft_cube.conjac.method = "bdf2", "vanilla"
    assert hints() == []
    soft_cube.conjac.tolerance = 1.0e-8
    assert hints() == ["Tolerance is 1e-08"]


def test_the_tab_is_there_where_nothing_suitable_is_selected(addon):
    """The tab once vanished with the selection, and appeared elsewhere again."""
    for obj in (None, bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))):
        text = " ".join(str(item) for item in drawn(obj))
        assert "Select a mesh" in text and "conjac.add_soft_body" not in text
        assert drawn(obj, "physics") == []


def test_a_pin_group_of_another_name_has_a_hint(soft_cube):
    """Renaming the group unpinned the body without a warning."""
    group = soft_cube.vertex_groups.new(name="Pin")
    group.add([0, 1, 2, 3], 1.0, "REPLACE")
    assert "pins nothing" not in str(advised(soft_cube))
    group.name = "Pinned Feet"
    assert '"Pinned Feet" pins nothing' in str(advised(soft_cube))
    soft_cube.conjac.pin_group = "Pinned Feet"
    assert "pins nothing" not in str(advised(soft_cube))


def test_the_panel_goes_in_the_order_of_work_and_the_solver_comes_last(soft_cube):
    """Look, paint, pins and collisions are above all settings of the solver."""
    from conjac.conjac_addon.ui import panels as made

    def in_order(kind):
        """Return the labels of the sections of a kind that are no parts of others."""
        shown = {section.key for section in made.SECTIONS if kind in section.of}
        return [section.label for section in made.SECTIONS if kind in section.of and section.inside not in shown]

    body = in_order(made.BODY)
    assert body == ["Look", "Paint", "Holds", "Cuts", "Collisions", "Forces", "Bake", "Advanced"]
    assert in_order(made.CLOTH)[-1] == in_order(made.MECHANISM)[-1] == "Advanced"
    assert not next(section for section in made.SECTIONS if section.label == "Advanced").open

    soft_cube.conjac.contact.collides_with, soft_cube.conjac.integrator = "all", "sdirk2"
    shown = [name for kind, name in drawn(soft_cube) if kind in ("prop", "label")]
    start = shown.index("Advanced")
    words_of_the_solver = ("method", "integrator", "stage_solver", "step", "accuracy", "largest_deformation", "damping",
                           "linear_solver", "law")
    assert all(shown.index(name) > start for name in words_of_the_solver)
    assert shown.index("wobble_half_life") < shown.index("density") < shown.index("youngs_modulus") < start


def test_parts_of_a_section_are_drawn_in_it_and_not_where_it_is_folded(soft_cube):
    """Eighteen headers below each other did not fit a screen."""
    from conjac.conjac_addon.ui import panels as made

    class Folded(FakeLayout):
        own = frozenset({"log"})
        folded = frozenset()
        seen = None

        def panel(self, idname, default_closed=False):
            key = idname.removeprefix("CONJAC_")
            type(self).seen.append((key, self.__dict__.get("of", "")))
            if key in type(self).folded:
                return FakeLayout(self.log), None
            body = type(self)(self.log)
            body.__dict__["of"] = key
            return FakeLayout(self.log), body

    for folded in ((), ("holds", "motion")):
        Folded.folded, Folded.seen = frozenset(folded), []
        made._draw(type("Panel", (), {"layout": Folded([]), "bl_space_type": "VIEW_3D"})(), Context(soft_cube))
        expected = [(section.key, section.inside) for section in made.SECTIONS
                    if made.BODY in section.of and section.inside not in folded]
        assert [item for item in Folded.seen if item[0] != "notes"] == expected
    # what is a part of nothing that is shown stands by itself
    rig = mechanism()
    Folded.folded, Folded.seen = frozenset(), []
    made._draw(type("Panel", (), {"layout": Folded([]), "bl_space_type": "VIEW_3D"})(), Context(rig))
    assert ("ground", "") in Folded.seen and ("keyframes", "bake") in Folded.seen
