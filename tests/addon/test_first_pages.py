"""The manual's first pages name every button, field and menu as Blender shows it, and their sentences are short."""

import re
from pathlib import Path

import bpy
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("jelly.md", "what_can_go_wrong.md", "examples.md", "painting.md", "forces.md")

#: what an artist reads after the first page
WORK = ("painting.md", "holding.md", "cloth.md", "ropes.md", "mechanisms.md", "contact.md", "forces.md")

#: Blender's own, and what buttons are called that have words of their own
BLENDERS = {"Object", "Quick Effects", "Adjust Last Operation", "Overlays", "End", "Done", "Fix", "Resume", "ConJac",
            "Set Jiggle", "Suggest", "Preset", "Add Collider", "Add", "Physics", "Mesh",
            "Monkey", "Attribute", "Colors", "Examples", "Show Fibers", "Weight", "Force Field", "Wind", "Normals",
            "Recalculate Outside", "Time Stretching"}


def called():
    """Return the labels of ConJac's panels and menus."""
    from conjac.conjac_addon import contact
    from conjac.conjac_addon.ui import overlays, panels

    names = {section.label for section in panels.SECTIONS} | {overlay._label for overlay in overlays.OVERLAYS}
    for name in dir(bpy.ops.conjac):
        rna = getattr(bpy.ops.conjac, name).get_rna_type()
        names |= {rna.name, *(prop.name for prop in rna.properties)}
    for group in bpy.types.PropertyGroup.__subclasses__():
        if group.__name__.startswith("CONJAC_"):
            names |= {prop.name for prop in group.bl_rna.properties}
    names |= {item.name for item in contact.CONJAC_Contact.bl_rna.properties["collides_with"].enum_items}
    maps = {item.name for item in bpy.ops.conjac.add_group.get_rna_type().properties["map"].enum_items}
    from conjac.conjac_addon import menus, prefs
    from conjac.conjac_addon.operators import quick
    from conjac.solver import catalogue

    names |= {value.label for value in overlays.value_marks.VALUES.values()} | {quick.DETAIL}
    names |= {entry.label for entry in catalogue.menu("method").values()}
    names |= {label for label, _ in menus.QUALITIES.values()}
    names |= {label for label, _ in menus.READY.values()} | {label for label, _ in menus.SAMPLES.values()}
    names |= {f"ConJac {preset.partition('/')[2].replace('_', ' ')}" for preset, _, _ in menus.samples()}
    names |= {prop.name for prop in prefs.CONJAC_Preferences.bl_rna.properties}
    return names | BLENDERS | maps | {f"Paint {name}" for name in maps} | {"ConJac Ragdoll"}


@pytest.mark.parametrize("page", PAGES)
def test_every_word_in_italics_is_what_blender_shows(addon, page):
    text = (DOCS / page).read_text(encoding="utf-8").replace("**", "")
    shown = {part.strip() for words in re.findall(r"\*([^*\n]+)\*", text) for part in words.split("→")}
    assert len(shown) > 12 and shown <= called(), sorted(shown - called())


def test_the_first_page_begins_with_play_live():
    first = (DOCS / PAGES[0]).read_text(encoding="utf-8").split("\n## ")[0]
    assert first.count("*Play Live*") == 1 and "ear" in first and "*Bake*" not in first


@pytest.mark.parametrize("page", WORK)
def test_each_page_of_an_artist_has_a_picture_and_what_can_go_wrong(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text.partition("\n## What can go wrong\n")[0])
    assert pictures and all((DOCS / picture).is_file() for picture in pictures)
    advice = text.partition("\n## What can go wrong\n")[2].partition("\n## ")[0]
    assert advice.count("\n| ") > 5, "a table of what is seen and what to do"
    first = (DOCS / PAGES[0]).read_text(encoding="utf-8")
    assert f"]({page})" in first, "the first page leads to it"


@pytest.mark.parametrize("page", PAGES)
def test_sentences_are_short(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    for sentence in re.split(r"(?<=[.:?!])\s|[|\n]", text):
        words = len(re.sub(r"\]\([^)]*\)", "]", sentence).split())
        assert words <= 26 or "·" in sentence, (words, sentence)


def test_the_question_mark_opens_the_first_page(addon):
    from drawn_panels import FakeLayout

    from conjac.conjac_addon.ui import manual

    opened = []

    class Layout(FakeLayout):
        def operator(self, idname, **words):
            return type("Properties", (), {"__setattr__": lambda self, name, value: opened.append((name, value))})()

    manual.draw_button(Layout([]))
    ((name, url),) = opened
    assert name == "url" and url.endswith("docs/jelly.md")
