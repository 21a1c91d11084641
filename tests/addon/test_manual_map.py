"""The menu of every button and field of ConJac opens an existing page of the manual."""

from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import unquote, urlparse

import bpy
import pytest
from drawn_panels import Context, FakeLayout, panels


def ours():
    """Return names of all operators and settings, as Blender asks for their page."""
    names = [f"bpy.ops.conjac.{name}" for name in dir(bpy.ops.conjac)]
    for group in bpy.types.PropertyGroup.__subclasses__():
        if group.__name__.startswith("CONJAC_"):
            names += [f"bpy.types.{group.__name__}.{prop.identifier}" for prop in group.bl_rna.properties]
    return names


def page_of(name):
    """Return the address that Blender's own *Online Manual* opens."""
    from bl_operators.wm import WM_OT_doc_view_manual

    return WM_OT_doc_view_manual._lookup_rna_url(name, verbose=False)


def file_of(url):
    return Path(unquote(urlparse(url).path))


def test_every_operator_and_setting_has_a_page(addon):
    assert len(ours()) > 150
    missing = [name for name in ours() if not file_of(page_of(name) or "file:///nowhere").is_file()]
    assert not missing
    assert page_of("bpy.ops.conjac.add_cut").endswith("docs/cuts.md")
    assert page_of("bpy.types.CONJAC_Settings.integrator").endswith("docs/integrators.md")
    assert page_of("bpy.ops.conjac.bake").endswith("README.md")
    addon.unregister()
    assert "cuts.md" not in (page_of("bpy.ops.conjac.add_cut") or "")
    addon.register()


def test_every_line_of_the_map_is_used(addon):
    from conjac.conjac_addon.ui import manual

    names = [name.lower() for name in ours()]
    first = {next(pattern for pattern, _ in manual.PLACES if fnmatchcase(name, pattern)) for name in names}
    assert first == {pattern for pattern, _ in manual.PLACES}


@pytest.mark.long
def test_an_installed_extension_opens_its_own_web_pages(addon, tmp_path, monkeypatch):
    from conjac.conjac_addon.ui import manual
    from scripts import manual_pages

    monkeypatch.setattr(manual, "PAGES", tmp_path / "manual")
    manual_pages.write_pages(manual.PAGES)
    for name in ours():
        assert file_of(page_of(name)).suffix == ".html" and file_of(page_of(name)).is_file(), name
    url = page_of("bpy.ops.conjac.bake")
    assert url.endswith("index.html#for-artists")
    assert f'id="{urlparse(url).fragment}"' in file_of(url).read_text(encoding="utf-8")


@pytest.mark.parametrize("place", ["view3d", "physics"])
def test_the_panels_header_opens_the_manual(soft_cube, place):
    log = []
    panel = type("Panel", (), {"layout": FakeLayout(log)})()
    (cls,) = [prop for prop in panels() if prop.bl_idname == f"CONJAC_PT_{place}"]
    cls.draw_header_preset(panel, Context(soft_cube))
    assert log == [("operator", "wm.url_open")]
