"""Panels of a bake: each of its states, with its buttons and messages."""

import bpy
import pytest
from drawn_panels import drawn


def test_a_bake_can_be_stopped_where_undo_has_taken_conjac_off_the_object(soft_cube):
    from conjac.conjac_addon.bake import session

    bake = session.Bake(soft_cube, bpy.context.scene)
    soft_cube.conjac.kind = "none"  # as Ctrl Z does where the object was made a soft body just before
    shown = drawn(soft_cube)
    assert ("operator", "conjac.cancel") in shown and ("operator", "conjac.add_soft_body") in shown
    assert any(kind == "progress" for kind, _ in shown)
    assert bpy.ops.conjac.cancel() == {"FINISHED"}
    while bake.tick():
        pass
    assert bake.exit_code == 75 and ("operator", "conjac.cancel") not in drawn(soft_cube)


@pytest.mark.parametrize("state", ["none", "partial", "complete", "stale", "broken", "baking"])
def test_each_state_of_a_bake_is_shown(soft_cube, state, monkeypatch):
    from conjac.conjac_addon import bake
    from conjac.conjac_addon.ui import sections

    status = bake.Status(state, 3, 10, 8.0, "It stands so", 0.3, mine=True)
    monkeypatch.setattr(sections.bake, "shown_status", lambda obj: status)
    log = drawn(soft_cube)
    shown = ("progress", "It stands so, 8 s left") if state == "baking" else ("label", "It stands so")
    assert shown in log
    assert (("operator", "conjac.bake") in log) == (state != "baking")
    assert (("operator", "conjac.cancel") in log) == (state == "baking")


def test_a_bake_of_another_program_has_no_buttons_here(soft_cube, monkeypatch):
    from conjac.conjac_addon import bake
    from conjac.conjac_addon.ui import sections

    monkeypatch.setattr(sections.bake, "shown_status", lambda obj: bake.Status("baking", 3, 10, text="Baking"))
    log = drawn(soft_cube)
    assert not {("operator", "conjac.pause"), ("operator", "conjac.cancel"), ("operator", "conjac.bake")} & set(log)
    assert any("Another program is baking it" in text for _, text in log)
    assert ("operator", "conjac.break_lock") in log


def test_a_long_sentence_is_not_cut_and_painting_after_a_bake_is_spoken_of(soft_cube, monkeypatch):
    from conjac.conjac_addon import bake, text
    from conjac.conjac_addon.ui import sections

    long = "Baked before Damping, Edge Length, Poisson Ratio, Time Step, Young's Modulus changed; bake again"
    monkeypatch.setattr(sections.bake, "shown_status", lambda obj: bake.Status("complete", 3, 3, text=long))

    def labels():
        return [text for kind, text in drawn(soft_cube) if kind == "label"]

    assert long in " ".join(labels()) and max(map(len, labels())) <= text.LINE
    assert "next bake" not in " ".join(labels())
    bpy.ops.conjac.add_group(map="pin")
    assert "paint show after the next bake" in " ".join(labels())


@pytest.mark.parametrize("points", [11, 16])
def test_lines_fill_the_width_and_lose_no_word(soft_cube, points):
    import blf

    from conjac.conjac_addon import text

    sentence = "Baked before Damping, Edge Length, Poisson Ratio, Time Step, Young's Modulus changed; bake again"
    blf.size(0, points)
    counts = []
    for width in (90, 180, 360, 2000):
        lines = text.fitted(sentence, width, points)
        assert " ".join(lines) == sentence
        assert all(blf.dimensions(0, line)[0] <= width or " " not in line for line in lines)
        # the next word would not have fitted
        assert all(blf.dimensions(0, f"{line} {after.split()[0]}")[0] > width for line, after in zip(lines, lines[1:]))
        counts.append(len(lines))
    assert counts == sorted(counts, reverse=True) and counts[0] > 5 and counts[-1] == 1


def test_the_buttons_of_a_bake_stand_above_whatever_the_status_says(soft_cube, monkeypatch):
    from conjac.conjac_addon import bake
    from conjac.conjac_addon.ui import sections

    for state, button in (("none", "conjac.bake"), ("stale", "conjac.bake"), ("baking", "conjac.pause")):
        monkeypatch.setattr(sections.bake, "shown_status",
                            lambda obj, state=state: bake.Status(state, text="Long words " * 30, mine=True))
        assert ("operator", button) in drawn(soft_cube)[:3]  # below Play Live and Record


def test_panels_survive_a_folder_that_cannot_be_read(soft_cube, tmp_path):
    (tmp_path / "file").write_text("in the way")
    soft_cube.conjac.cache_folder = str(tmp_path / "file")
    assert any(kind == "operator" for kind, _ in drawn(soft_cube))
