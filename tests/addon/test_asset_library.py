"""The asset library in the zip: the results of Add > ConJac, listed in Blender's preferences while enabled."""

from pathlib import Path

import bpy
import numpy as np
import pytest

from scripts import asset_library as written

FAMILIES = ("collections", "objects", "materials")


def assets():
    """Return names of the assets in the committed file, by family."""
    with bpy.data.libraries.load(str(written.FOLDER / written.BLEND), assets_only=True) as (there, _):
        return {family: sorted(getattr(there, family)) for family in FAMILIES}


def append(family, name):
    """Append the data-block that a drop from the Asset Browser appends."""
    with bpy.data.libraries.load(str(written.FOLDER / written.BLEND)) as (_, wanted):
        setattr(wanted, family, [name])
    block = getattr(wanted, family)[0]
    if family == "collections":
        bpy.context.scene.collection.children.link(block)
    elif family == "objects":
        bpy.context.scene.collection.objects.link(block)
    return block


def settings_of(group):
    """Return the values of a group of settings and its subgroups; for object pointers, whether they are set."""
    settings = {}
    for prop in group.bl_rna.properties:
        if prop.identifier in ("rna_type", "version") or not group.is_property_set(prop.identifier):
            continue
        value = getattr(group, prop.identifier)
        if prop.type == "COLLECTION":
            value = [settings_of(part) for part in value]
        elif prop.type == "POINTER":
            value = settings_of(value) if isinstance(value, bpy.types.PropertyGroup) else value is None
        settings[prop.identifier] = tuple(value) if getattr(prop, "is_array", False) else value
    return settings


def described(obj):
    """Return all of an object that a bake reads: settings, mesh, weights, transform, keyframes and modifiers."""
    mesh = None
    if obj.type == "MESH":
        at = np.empty(3 * len(obj.data.vertices), np.float32)
        obj.data.vertices.foreach_get("co", at)
        groups = sorted(group.name for group in obj.vertex_groups)
        mesh = (len(obj.data.polygons), len(obj.data.edges), at.tobytes(), groups,
                sum(len(vertex.groups) for vertex in obj.data.vertices),
                [material.name.partition(".")[0] for material in obj.data.materials])
    keyed = obj.animation_data is not None and obj.animation_data.action is not None
    wind = obj.field.strength if obj.field is not None and obj.field.type != "NONE" else 0.0
    return (settings_of(obj.conjac), mesh, tuple(obj.location), tuple(obj.rotation_euler), keyed, wind,
            [(modifier.type, modifier.name.partition(".")[0]) for modifier in obj.modifiers])


def test_it_has_every_scene_every_sample_and_every_look(addon):
    from conjac.conjac_addon import menus
    from conjac.conjac_addon.ready import looks

    names = [name for _, name, _ in menus.samples()]
    assert len(set(names)) == len(names) == 20
    assert assets() == {
        "collections": sorted(label for label, _ in menus.READY.values()), "objects": sorted(names),
        "materials": sorted(f"ConJac {name.replace('_', ' ')}" for name in looks.LOOKS)}
    assert {preset.partition("/")[2] for preset, _, _ in menus.samples()} == set(looks.LOOKS)


def test_it_is_small_and_its_catalogs_are_named():
    assert (written.FOLDER / written.BLEND).stat().st_size < 1.5e6
    assert (written.FOLDER / written.CATALOGS).read_text(encoding="utf-8") == written.catalogs()
    assert sorted(path.name for path in written.FOLDER.iterdir()) == sorted([written.BLEND, written.CATALOGS])


def test_every_blender_reads_it(addon):
    """Blender 4.2 crashes on keyframes that 4.4 or a later one has saved."""
    with bpy.data.libraries.load(str(written.FOLDER / written.BLEND), link=True) as (_, wanted):
        wanted.materials = ["ConJac Rubber"]
    assert tuple(wanted.materials[0].library.version)[:2] == (4, 2), "run `make assets`"


def test_what_is_in_it_is_what_a_click_makes_today(addon, tmp_path):
    """A change of a scene, a preset or the defaults of new bodies requires `make assets`."""
    made = {(type(block).__name__, block.name): block for block in written.build(tmp_path, pictures=False)}
    for (kind, name), block in made.items():
        if kind == "Material":
            continue
        stored = append("collections" if kind == "Collection" else "objects", name)
        now, then = ([data_block] if kind == "Object" else data_block.objects for data_block in (block, stored))
        bodies = [sorted(map(described, group), key=repr) for group in (now, then)]
        assert bodies[0] == bodies[1], f"{name}: run `make assets`"
        assert all(drop.conjac.cache.uuid == "" for drop in then), name  # each drop gets a bake of its own
        assert stored.asset_data.catalog_id == block.asset_data.catalog_id and stored.asset_data.description


def test_every_asset_has_a_picture_in_which_something_is_seen(addon):
    for family, names in assets().items():
        for name in names:
            preview = append(family, name).preview
            assert preview is not None and tuple(preview.image_size) == (written.PIXELS, written.PIXELS), name
            pixels = np.empty(4 * written.PIXELS ** 2, np.float32)
            preview.image_pixels_float.foreach_get(pixels)
            covered = (pixels.reshape(-1, 4)[:, 3] > 0.5).mean()
            assert covered > 0.01, (name, covered)


@pytest.mark.parametrize("name", ["Gelatin Ball", "Steel Cable"])
def test_what_was_dropped_bakes_where_it_was_put(addon, tmp_path, name):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 6
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "dropped.blend"))
    body = append("objects", name)
    body.location.x += 3.0
    bpy.context.view_layer.objects.active = body
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    positions = []
    for frame in (1, 6):
        scene.frame_set(frame)
        mesh = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        at = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", at)
        positions.append(at.reshape(-1, 3) + np.array(body.matrix_world)[:3, 3])
    assert abs(positions[0][:, 0].mean() - 3.0) < 0.3
    moved = np.linalg.norm(positions[1].mean(axis=0) - positions[0].mean(axis=0))
    assert 0.01 < moved < 3.0, moved


def test_the_nodding_head_is_led_to_where_it_was_put_and_not_to_where_it_was_made(addon):
    (head,) = append("collections", "Nodding Head").objects
    head.location.x += 3.0
    positions = []
    for frame in (1, 6, 11):
        bpy.context.scene.frame_set(frame)
        positions.append(head.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.x)
    assert positions[0] == pytest.approx(2.2) and positions[2] == pytest.approx(3.0) and (
        positions[0] < positions[1] < positions[2])


def libraries():
    return [(library.name, Path(library.path)) for library in bpy.context.preferences.filepaths.asset_libraries]


def test_the_preferences_list_it_while_enabled_and_nothing_else_changes(addon):
    from conjac.conjac_addon import asset_library, prefs

    others = libraries()
    assert asset_library.entry() is None
    asset_library.list_it(True)
    asset_library.list_it(True)
    assert libraries() == [*others, ("ConJac", written.FOLDER)]
    assert asset_library.entry().import_method == "APPEND"
    asset_library.list_it(False)
    assert libraries() == others

    # ticking the box does it, and ConJac switched off takes it back
    class Preferences:
        asset_library = True

    prefs._list_library(Preferences, bpy.context)
    assert len(libraries()) == len(others) + 1
    addon.unregister()
    assert libraries() == others
    addon.register()
    assert libraries() == others  # it was never ticked in saved preferences


def test_a_sample_has_the_settings_of_its_preset_and_stands_at_the_cursor(addon):
    from conjac.conjac_addon import menus
    from scripts import presets

    bpy.context.scene.cursor.location = (3.0, -2.0, 0.0)
    values = {f"{kind}/{Path(presets.file_name(asset.name)).stem}": asset.settings
              for kind, all_ in presets.KINDS.items() for asset in all_}
    assert set(values) == {preset for preset, _, _ in menus.samples()}
    for preset, settings in values.items():
        assert bpy.ops.conjac.add_sample(preset=preset) == {"FINISHED"}
        made = bpy.context.object
        assert made.conjac.kind == preset.partition("/")[0] and (made.location.x, made.location.y) == (3.0, -2.0)
        for name, value in settings.items():
            assert getattr(made.conjac, name) == (value if isinstance(value, str) else pytest.approx(value)), preset
