"""An error stays in the panel until it is fixed, with its code and its remedy, and no button moves."""

import re

import bpy
import pytest
from drawn_panels import FakeLayout, advised, drawn


def labels(obj):
    return " ".join(text for kind, text in drawn(obj) if kind == "label")


def plane():
    bpy.ops.mesh.primitive_plane_add()
    bpy.ops.conjac.add_soft_body()
    return bpy.context.object


def test_what_a_bake_refused_stays_until_a_bake_goes_well(soft_cube):
    cube = soft_cube
    cube.conjac.pin_group = "Missing"
    with pytest.raises(RuntimeError, match="no vertex group"):
        bpy.ops.conjac.bake()
    for _ in range(2):
        shown = drawn(cube)
        assert 'there is no vertex group "Missing" for Pin' in labels(cube)
        assert ("operator", "wm.url_open") in shown  # the code, which opens the manual
    cube.conjac.pin_group = "Pin"
    assert "Missing" in labels(cube)  # nobody has tried it yet
    assert bpy.ops.conjac.bake() == {"FINISHED"}
    assert "Missing" not in labels(cube)


def test_the_code_of_an_error_is_a_heading_of_the_manual(soft_cube, monkeypatch):
    from pathlib import Path

    from conjac.conjac_addon.ui import notes

    shown = []
    own = FakeLayout.operator
    monkeypatch.setattr(FakeLayout, "operator", lambda self, name, **words: (
        shown.append((name, words.get("text"))), own(self, name, **words))[1])
    soft_cube.conjac.pin_group = "Missing"
    with pytest.raises(RuntimeError):
        soft_cube.conjac.bake(raise_on_failure=True)
    drawn(soft_cube)
    code = next(text for name, text in shown if name == "wm.url_open" and text)
    page = Path(__file__).parents[2] / "docs" / "troubleshooting.md"
    assert code == "no_such_thing" and re.search(f"^## {code}$", page.read_text(), re.MULTILINE)
    assert [note.code for note in notes.of(soft_cube)][0] == code


def test_what_was_refused_to_a_button_stays_until_that_goes_well(soft_cube):
    soft_cube.conjac.pin_group = "Missing"
    with pytest.raises(RuntimeError):
        bpy.ops.conjac.preview_tets()
    assert "Missing" in labels(soft_cube)
    soft_cube.conjac.pin_group = "Pin"
    assert bpy.ops.conjac.preview_tets() == {"FINISHED"}
    assert "Missing" not in labels(soft_cube)


def test_a_flat_mesh_is_reported_before_and_after_its_bake_and_turned_into_cloth(addon):
    sheet = plane()
    log = advised(sheet)
    assert ("operator", "conjac.turn_into_cloth") in log and ("operator", "conjac.subdivide") not in log
    with pytest.raises(RuntimeError):
        bpy.ops.conjac.bake()
    from conjac.conjac_addon.ui import notes

    first = notes.of(sheet)[0]
    assert (first.icon, first.code, first.operator) == ("ERROR", "bad_mesh", "conjac.turn_into_cloth")
    assert bpy.ops.conjac.turn_into_cloth() == {"FINISHED"}
    assert sheet.conjac.kind == "cloth" and not bpy.ops.conjac.turn_into_cloth.poll()
    assert not [note for note in notes.of(sheet) if note.icon == "ERROR"]


def test_bodies_that_cross_at_the_start_are_selected_by_what_the_panel_offers(soft_cube):
    from conjac.conjac_addon.ui import notes

    bpy.ops.mesh.primitive_cube_add(location=(0.5, 0.5, 0.5))
    other = bpy.context.object
    bpy.ops.conjac.add_collider()
    soft_cube.conjac.contact.collides_with = "all"
    bpy.context.view_layer.objects.active = soft_cube
    with pytest.raises(RuntimeError, match="it crosses"):
        bpy.ops.conjac.bake()
    assert notes.of(soft_cube)[0].operator == "conjac.select_crossing"
    with pytest.raises(RuntimeError):  # a warning with how many faces cross
        bpy.ops.conjac.select_crossing()
        raise RuntimeError("selected")
    assert other.select_get()


@pytest.mark.parametrize("text", ["Baked", "Long words " * 30])
def test_nothing_moves_whatever_there_is_to_say(soft_cube, text, monkeypatch):
    """Above the fold of the notes are as many rows with an error, hints and a long status as without any."""
    from conjac.conjac_addon import bake, failures
    from conjac.conjac_addon.ui import sections

    monkeypatch.setattr(sections.bake, "shown_status", lambda obj: bake.Status("stale", text=text))

    class Folded(FakeLayout):
        own = frozenset({"log"})

        def panel(self, idname, default_closed=False):
            self.log.append(("panel", idname))
            return FakeLayout(self.log), None

    def rows():
        log = []
        from drawn_panels import Context

        sections.draw_body(Folded(log), Context(soft_cube))
        return [kind for kind, _ in log[:log.index(("panel", "CONJAC_notes"))]], log

    before, log = rows()
    assert before == ["operator"] * 4 + ["label", "operator"]
    with monkeypatch.context() as playing:
        playing.setattr(sections.live, "played", lambda obj: type("Played", (), {
            "sentence": lambda self: text, "records": False})())
        assert rows()[0] == before
    failures.keep(soft_cube.session_uid, failures.BAKE, 'It crosses "Table" at the start. Part them.', "bad_mesh")
    after, shown = rows()
    assert after == before
    assert len([item for item in shown if item[0] == "label"]) == len([entry for entry in log if entry[0] == "label"])
    failures.mend(soft_cube.session_uid, failures.BAKE)


def test_what_went_wrong_is_forgotten_with_the_extension(soft_cube):
    from conjac.conjac_addon import failures

    failures.keep(1, failures.BAKE, "It is flat. Make it thicker.", "bad_mesh")
    assert [failure.text for failure in failures.of(1, 1)] == ["It is flat. Make it thicker"]
    failures.keep(1, failures.BAKE, "It is being baked.", "cache_busy")  # the status says that
    assert len(failures.of(1)) == 1
    failures.forget()
    assert not failures.of(1)
