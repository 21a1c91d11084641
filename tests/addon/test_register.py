"""Registering and unregistering leave nothing behind, however often."""

import gc

import bpy
import pytest


def conjac_classes():
    """Return every registered class of ConJac; property groups are not in bpy.types."""
    bases = (bpy.types.Operator, bpy.types.Panel, bpy.types.PropertyGroup, bpy.types.AddonPreferences, bpy.types.Menu)
    return [cls for base in bases for cls in base.__subclasses__()
            if cls.__name__.startswith("CONJAC_") and cls.is_registered]


def registered():
    """Return everything that an extension can leave behind in Blender."""
    handlers = {name: len(value) for name in dir(bpy.app.handlers)
                if isinstance(value := getattr(bpy.app.handlers, name), list)}
    classes = {cls.__name__ for cls in conjac_classes()}
    properties = {owner.__name__: set(owner.bl_rna.properties.keys())
                  for owner in (bpy.types.Object, bpy.types.Scene, bpy.types.Mesh, bpy.types.WindowManager)}
    return handlers, classes, properties, set(dir(bpy.ops.conjac))


def test_twenty_rounds_leak_nothing():
    import conjac

    before = registered()
    for _ in range(20):
        conjac.register()
        assert len(conjac_classes()) > 20
        assert "conjac" in bpy.types.Object.bl_rna.properties
        conjac.unregister()
    gc.collect()
    assert registered() == before


def test_a_part_that_fails_takes_the_others_back(monkeypatch):
    import conjac
    from conjac.conjac_addon.operators import table

    class CONJAC_OT_broken:  # not an operator: Blender refuses to register it
        pass

    before = registered()
    monkeypatch.setattr(table, "classes", (*table.classes, CONJAC_OT_broken))
    with pytest.raises((ValueError, RuntimeError)):
        conjac.register()
    monkeypatch.undo()
    assert registered() == before
    conjac.register()
    conjac.unregister()


@pytest.mark.parametrize("part", ["menus", "presets", "overlays"])
def test_a_part_that_fails_late_is_the_error_that_is_reported(monkeypatch, part):
    """On Blender 4.2 the artist saw only "list.remove(x): x not in list" of a later error."""
    import conjac
    from conjac.conjac_addon import ui

    def fails():
        raise RuntimeError("no such thing in this Blender")

    before = registered()
    monkeypatch.setattr(getattr(ui, part), "register", fails)
    with pytest.raises(RuntimeError, match="no such thing in this Blender"):
        conjac.register()
    monkeypatch.undo()
    assert registered() == before
    conjac.register()
    conjac.unregister()
    assert registered() == before


def test_presets_are_in_the_menu_of_a_blender_that_knows_no_other_folders(monkeypatch):
    """Blender 4.2 searches for presets only in its own folders."""
    import conjac
    from conjac.conjac_addon import compat
    from conjac.conjac_addon.ui import presets

    shown = []

    class Menu:
        preset_subdir, preset_operator = "conjac/cloth", "script.execute_preset"

        def path_menu(self, folders, operator, **rest):
            shown.append((folders, operator, rest["filter_ext"](".PY"), rest["display_name"]("Silk")))

    monkeypatch.delattr(bpy.utils, "register_preset_path")
    conjac.register()
    compat.draw_presets(Menu(), bpy.context, presets.FOLDER)
    conjac.unregister()
    (folders, *rest), = shown
    assert any((presets.Path(folder) / "Silk.py").exists() for folder in folders)
    assert rest == ["script.execute_preset", True, "Silk"]


def _is_blenders(cls, prop):
    """Whether a property comes from Blender's own base of operators for presets."""
    return "preset_subdir" in vars(cls) and prop.identifier in {"remove_name", "remove_active"}


def test_every_tooltip_is_a_sentence_without_a_full_stop(addon):
    tooltips = []
    for cls in conjac_classes():
        rna = cls.bl_rna
        if issubclass(cls, bpy.types.Operator):
            module, _, name = cls.bl_idname.partition(".")
            rna = getattr(getattr(bpy.ops, module), name).get_rna_type()
            tooltips.append((cls.__name__, rna.name, rna.description))
        if issubclass(cls, bpy.types.Panel):
            tooltips.append((cls.__name__, cls.bl_label, "a panel has no tooltip"))
            continue
        inherited = set(rna.base.properties.keys()) if rna.base else {"name"}
        tooltips += [(f"{cls.__name__}.{prop.identifier}", prop.name, prop.description)
                     for prop in rna.properties
                     if prop.identifier not in inherited | {"rna_type", "name"} and not _is_blenders(cls, prop)]
    assert len(tooltips) > 50
    for owner, label, description in tooltips:
        assert description and not description.endswith("."), owner
        small = {"per", "of", "on", "at", "by", "from", "to", "and", "the", "as"}
        assert all(word[:1].isupper() or word in small or not word.isalpha() for word in label.split()), (owner, label)


def test_what_blender_keeps_of_settings_to_its_end_does_not_keep_bpy():
    """Blender 4.2 crashes at exit over a reference to bpy."""
    import inspect

    from conjac.conjac_addon import settings

    functions = [function for group in settings.classes for function in vars(group).values()
                 if inspect.isfunction(function)]
    assert functions and not [function.__qualname__ for function in functions if "bpy" in function.__globals__]
