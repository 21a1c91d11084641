"""During a slow bake, the panel explains the reason and a remedy."""

from drawn_panels import FakeLayout
from jelly import add_jelly, bpy, scene  # noqa: F401

from conjac.conjac_addon.bake.progress import Progress, after
from conjac.conjac_addon.ui import slow
from conjac.solver.errors import StepFailed
from conjac.solver.stepping import Halved


def frames(seconds, count, progress=None):
    progress = after(progress or Progress(), {"event": "start", "frames": [1, 250], "steps_per_frame": 1})
    for frame in range(2, 2 + count):
        progress = after(progress, {"event": "frame", "frame": frame, "ms": 1e3 * seconds, "left_s": 10.0})
    return progress


def test_a_fast_bake_and_the_first_frames_say_nothing():
    assert slow.sentence(frames(0.5, 40), 10, 10) == "" and slow.sentence(frames(30.0, 2), 10, 10) == ""


def test_a_slow_one_says_how_long_why_and_what_to_change():
    alone = slow.sentence(frames(7.0, 5), 1, 1)
    assert alone.startswith("A frame takes 7 s") and "Edge Length" in alone and "solved together" not in alone
    assert "shorter steps" not in alone
    # what the solver itself says of a frame whose steps were halved
    description = Halved([(1 / 48, StepFailed("an edge changed too much", "Ball"))]).describe(3)
    piled = slow.sentence(frames(7.0, 5, after(Progress(), {"event": "log", "text": description})), 10, 0)
    assert "shorter steps" in piled and "10 bodies" in piled and "Edge Length" not in piled


def test_the_panel_shows_it_while_it_bakes(scene, monkeypatch):  # noqa: F811
    from conjac.conjac_addon.bake import session
    from conjac.conjac_addon.ui import sections

    obj = add_jelly()

    class Running:
        progress = frames(7.0, 5)

    monkeypatch.setattr(session, "running_bake", lambda baked: Running() if baked == obj else None)
    status = type("Status", (), {"state": "baking", "mine": True})()
    [note] = sections._notes_of(obj, status)
    assert note.text.startswith("A frame takes 7 s")
    log = []
    sections.notes.draw(FakeLayout(log), [note])
    assert any("A frame takes 7 s" in str(line) for line in log), log
