"""Presets of materials and fabrics are stored like Blender's own, each with its source."""

import bpy
import pytest

from scripts import presets


def test_the_files_and_the_page_are_what_the_table_says():
    there = {path: path.read_text(encoding="utf-8") for path in presets.FOLDER.glob("*/*.py")}
    assert there == presets.files(), "run `make manual`"
    assert presets.PAGE.read_text(encoding="utf-8") == presets.page(), "run `make manual`"
    assert all(preset.source for kind in presets.KINDS.values() for preset in kind)


@pytest.mark.parametrize("kind", presets.KINDS)
def test_blender_finds_ours_and_each_sets_what_it_says(soft_cube, kind):
    soft_cube.conjac.kind = kind
    folders = bpy.utils.preset_paths(f"conjac/{kind}")
    assert str(presets.FOLDER / kind) in folders
    settings = soft_cube.conjac
    for preset in presets.KINDS[kind]:
        bpy.ops.script.execute_preset(filepath=str(presets.FOLDER / kind / presets.file_name(preset.name)),
                                      menu_idname=f"CONJAC_MT_presets_{kind}")
        for name, value in preset.settings.items():
            prop = settings.bl_rna.properties[name]
            assert getattr(settings, name) == (value if isinstance(value, str) else pytest.approx(value)), preset.name
            if prop.type == "FLOAT":
                assert prop.hard_min <= value <= prop.hard_max, f"{preset.name}: {name}"


def test_the_panel_shows_the_menu_of_what_the_object_is(soft_cube):
    from drawn_panels import drawn

    assert ("menu", "CONJAC_MT_presets_soft_body") in drawn(soft_cube)
    soft_cube.conjac.kind = "cloth"
    assert ("menu", "CONJAC_MT_presets_cloth") in drawn(soft_cube)
    assert ("menu", "CONJAC_MT_presets_soft_body") not in drawn(soft_cube)
    soft_cube.conjac.kind = "rope"
    assert ("menu", "CONJAC_MT_presets_rope") in drawn(soft_cube)


def test_an_artist_keeps_his_own(soft_cube, tmp_path, monkeypatch):
    monkeypatch.setattr(bpy.utils, "user_resource", lambda *_args, **words: str(tmp_path / words.get("path", "")))
    (tmp_path / "presets" / "conjac" / "soft_body").mkdir(parents=True)
    soft_cube.conjac.youngs_modulus, soft_cube.conjac.density = 12345.0, 321.0
    assert bpy.ops.conjac.preset_soft_body(name="My Jelly") == {"FINISHED"}
    written = next(tmp_path.rglob("*.py"))
    soft_cube.conjac.youngs_modulus = 1.0e6
    bpy.ops.script.execute_preset(filepath=str(written), menu_idname="CONJAC_MT_presets_soft_body")
    assert (soft_cube.conjac.youngs_modulus, soft_cube.conjac.density) == (12345.0, 321.0)
