"""Greyed-out fields explain the reason in their tooltips."""

import bpy
import pytest
from drawn_panels import Context, FakeLayout, mechanism


class Greys(FakeLayout):
    """A layout that records what is drawn in its inactive parts."""

    own = frozenset({"log"})

    def _is_grey(self):
        return self.__dict__.get("within", False) or not self.__dict__.get("active", True)

    def _inner(self):
        made = Greys(self.log)
        made.__dict__["within"] = self._is_grey()
        return made

    def _child(self, *args, **words):
        return self._inner()
    row = column = box = grid_flow = _child

    def split(self, factor=0.0, align=False):
        return self._inner()

    def panel(self, idname, default_closed=False):
        return self._inner(), self._inner()

    def prop(self, data, name, **words):
        if self._is_grey():
            self.log.append((data, name))

    def operator(self, idname, **words):
        return super().operator(idname, **words)


def greys(obj):
    """Return (class, field, description) of each field that is grey in the panels of an object."""
    from conjac.conjac_addon.ui import panels

    log = []
    panels._draw(type("Panel", (), {"layout": Greys(log), "bl_space_type": "VIEW_3D"})(), Context(obj))
    return {(type(data).__name__, name, data.bl_rna.properties[name].description)
            for data, name in log if isinstance(data, bpy.types.bpy_struct)}


def everything(obj):
    """Give an object one entry of each list of a panel."""
    settings = obj.conjac
    bpy.ops.object.empty_add()
    settings.handles.add().object = bpy.context.object
    for entries in (settings.nails, settings.welds, settings.constraints, settings.spots):
        entries.add()
    settings.contact.collides_with = "all"
    bpy.context.view_layer.objects.active = obj


@pytest.mark.parametrize("kind,seen", [("soft_body", 12), ("cloth", 10), ("rope", 3)])
def test_every_grey_field_says_why(soft_cube, kind, seen):
    everything(soft_cube)
    settings = soft_cube.conjac
    settings.kind = kind
    grayed = set()
    for integrator in ("sdirk2", "semi_implicit"):
        settings.solver.integrator = integrator
        for law in settings.contact.bl_rna.properties["law"].enum_items.keys():
            settings.contact.law = law
            grayed |= greys(soft_cube)
    for friction in ("coulomb", "none"):
        settings.friction = friction
        grayed |= greys(soft_cube)
    settings.contact.collides_with = "none"
    grayed |= greys(soft_cube)
    assert len(grayed) >= seen
    assert not [field for field in grayed if "Grayed out while" not in field[2]]


def test_so_do_those_of_a_mechanism(addon):
    rig = mechanism()
    grayed = greys(rig)
    assert {"let_go", "tolerance"} <= {name for _, name, _ in grayed}
    assert not [field for field in grayed if "Grayed out while" not in field[2]]


def test_what_is_never_grey_does_not_say_when(addon):
    from conjac.conjac_addon import settings

    properties = settings.CONJAC_Settings.bl_rna.properties
    for name in ("youngs_modulus", "dial_youngs_modulus", "use_ground", "use_sewing", "sharp_edges", "material"):
        assert "Grey" not in properties[name].description, name
