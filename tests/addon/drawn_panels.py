"""Draws panels into a log, without a window: names are checked against Blender's own descriptions."""

import bpy


class FakeLayout:
    """A layout that checks every name of a panel's calls; `log` is what was drawn."""

    own = frozenset({"log"})

    def __init__(self, log):
        self.__dict__["log"] = log

    def __setattr__(self, name, value):
        assert name in bpy.types.UILayout.bl_rna.properties, name
        self.__dict__[name] = value

    def _child(self, *args, **words):
        function = bpy.types.UILayout.bl_rna.functions["row"].parameters
        assert not args and set(words) <= set(function.keys())
        return FakeLayout(self.log)
    row = column = box = _child

    def grid_flow(self, **words):
        assert set(words) <= set(bpy.types.UILayout.bl_rna.functions["grid_flow"].parameters.keys())
        return FakeLayout(self.log)

    def split(self, factor=0.0, align=False):
        return FakeLayout(self.log)

    def panel(self, idname, default_closed=False):
        assert idname.isidentifier()
        return FakeLayout(self.log), FakeLayout(self.log)

    def _icon(self, words):
        assert words.get("icon", "NONE") in bpy.types.UILayout.bl_rna.functions["prop"].parameters["icon"].enum_items

    def prop(self, data, name, **words):
        assert name in data.bl_rna.properties, name
        self._icon(words)
        # a dial is shown for the setting that it stands for
        shown = name.removeprefix("dial_")
        self.log.append(("prop", shown))
        if not self.__dict__.get("active", True):
            self.log.append(("grey", shown))

    def template_list(self, kind, name, data, entries, where, active, **words):
        assert kind == "UI_UL_list" and name and set(words) <= {"rows"}
        assert entries in data.bl_rna.properties and active in where.bl_rna.properties
        self.log.extend([("prop", entries), ("prop", active)])

    def prop_search(self, data, name, where, collection, **words):
        assert name in data.bl_rna.properties and collection in where.bl_rna.properties, name
        self._icon(words)
        self.log.append(("prop", name))

    def operator(self, idname, **words):
        module, _, name = idname.partition(".")
        properties = getattr(getattr(bpy.ops, module), name).get_rna_type().properties
        self._icon(words)
        self.log.append(("operator", idname))
        if not self.__dict__.get("active", True):
            self.log.append(("grey", idname))

        class Properties:
            def __setattr__(self, name, value):
                assert name in properties, name
        return Properties()

    def label(self, text="", **words):
        self._icon(words)
        self.log.append(("label", text))

    def menu(self, name, **words):
        assert hasattr(bpy.types, name), name
        self.log.append(("menu", name))

    def operator_menu_enum(self, idname, name, **words):
        module, _, short = idname.partition(".")
        assert name in getattr(getattr(bpy.ops, module), short).get_rna_type().properties, name
        self.log.append(("operator", idname))

    def separator(self, **words):
        assert set(words) <= {"factor", "type"}

    def template_icon(self, icon_value=0, scale=1.0):
        self.log.append(("picture", icon_value))

    def progress(self, factor=0.0, text="", **_words):
        assert 0.0 <= factor <= 1.0
        self.log.append(("progress", text))


class Context:
    def __init__(self, obj):
        self.object = self.active_object = obj
        self.scene, self.region = bpy.context.scene, bpy.context.region


def panels():
    return [cls for cls in bpy.types.Panel.__subclasses__() if cls.__name__.startswith("CONJAC_")]


def advised(obj):
    """Return all that panels draw after the timer, which does not run in a background Blender, has updated the
    advice."""
    from conjac.conjac_addon.ui import advice

    drawn(obj)
    advice.look()
    return drawn(obj)


def drawn(obj, space="view3d"):
    """Return all that the panels of one editor draw for an object."""
    log, context = [], Context(obj)
    for cls in panels():
        if cls.bl_idname.startswith(f"CONJAC_PT_{space}") and cls.poll(context):
            panel = type("Panel", (), {"layout": FakeLayout(log), "bl_space_type": cls.bl_space_type})()
            cls.draw(panel, context)
    return log


def mechanism():
    """Return an armature of one bone, which is active."""
    bpy.ops.object.armature_add()
    rig = bpy.context.object
    rig.conjac.enabled = True
    rig.data.bones.active = rig.data.bones[0]
    return rig
