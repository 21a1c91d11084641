"""Object.conjac is made from the catalogue, in Blender's units."""

import bpy
import pytest


def test_every_parameter_of_the_catalogue_is_a_setting(soft_cube, addon):
    from conjac.conjac_addon import settings
    from conjac.solver import catalogue

    for coarser in ("mesher", "edge_length"):
        soft_cube.conjac.property_unset(coarser)
    properties = soft_cube.conjac.bl_rna.properties
    for family in settings.FAMILIES:
        none = {"none"} if family in settings.OPTIONAL else set()
        assert set(properties[family].enum_items.keys()) == set(catalogue.menu(family)) | none
        for entry in catalogue.menu(family).values():
            for param in entry.params:
                prop = properties[settings.property_name(entry, param)]
                assert prop.name == param.label
                assert prop.description.startswith(param.sentence)
                assert getattr(soft_cube.conjac, prop.identifier) == pytest.approx(param.default, rel=1e-6)
                if param.low is not None:
                    assert prop.hard_min == pytest.approx(param.low, rel=1e-6)
                if param.soft_high is not None:
                    assert prop.soft_max == pytest.approx(param.soft_high, rel=1e-6)
    assert set(properties["export"].enum_items.keys()) == set(catalogue.family("export"))


def test_values_come_out_as_they_were_typed(soft_cube):
    from conjac.conjac_addon.settings import si

    scene, settings = bpy.context.scene, soft_cube.conjac
    settings.poisson_ratio = 0.45
    settings.beta = 0.7
    assert si(settings, "poisson_ratio", scene) == 0.45
    assert si(settings, "beta", scene) == 0.7
    assert si(settings, "gamma", scene) == 1.0 / 3.0


def test_lengths_are_scaled_once(soft_cube):
    from conjac.conjac_addon.settings import si

    scene, settings = bpy.context.scene, soft_cube.conjac
    settings.edge_length = 0.5
    settings.density = 900.0
    scene.unit_settings.scale_length = 0.01
    assert si(settings, "edge_length", scene) == pytest.approx(0.005, rel=1e-12)
    assert si(settings, "density", scene) == 900.0


def test_two_entries_that_use_one_key_differently_get_two_properties(addon, monkeypatch):
    from conjac.conjac_addon import settings
    from conjac.solver import catalogue
    from conjac.solver.catalogue import Entry, Param

    other = Param("beta", "Beta", "Something else", 2.0)
    added = Entry("material", "foam", "materials.foam:Foam", "Foam", "Made up", (other, catalogue.POISSON_RATIO))
    monkeypatch.setattr(settings, "_entries", lambda: [*catalogue.ENTRIES[:5], added])
    assert settings.property_name(added, other) == "foam_beta"
    assert settings.property_name(added, catalogue.POISSON_RATIO) == "poisson_ratio"


def test_settings_survive_saving_and_copying(soft_cube, tmp_path):
    soft_cube.conjac.youngs_modulus = 1.0e5
    soft_cube.conjac.pin_group = "Été"
    bpy.ops.object.empty_add()
    soft_cube.conjac.handles.add().object = bpy.context.object
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "scene.blend"))
    settings = bpy.data.objects["Cube"].copy().conjac
    assert (settings.enabled, settings.youngs_modulus, settings.pin_group) == (True, 1.0e5, "Été")
    assert settings.handles[0].object == bpy.data.objects["Empty"]


def test_settings_of_a_linked_object_can_be_overridden(soft_cube, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "asset.blend"))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "asset.blend"), link=True) as (_, wanted):
        wanted.objects = ["Cube"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])  # from 5.3 on only what a scene uses is overridden
    local = bpy.data.objects["Cube"].override_create(remap_local_usages=True)
    local.conjac.beta = 2.0
    local.override_library.operations_update()
    assert any(p.rna_path == "conjac.beta" for p in local.override_library.properties)


def test_a_name_that_is_no_setting_is_refused(soft_cube):
    """A misspelled name in a script once had no effect and no message."""
    settings = soft_cube.conjac
    for group in (settings, settings.solver, settings.contact, settings.mechanism, settings.handles.add()):
        with pytest.raises(AttributeError):
            group.stifness = 1.0
    settings.stiffness_damping = 0.5
    assert settings.stiffness_damping == 0.5
