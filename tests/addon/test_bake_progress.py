"""Progress is a pure function of messages."""

import pytest

pytest.importorskip("bpy")

from conjac.conjac_addon.bake.progress import Progress, after, duration, line, remaining


def progress_after(*messages):
    progress = Progress()
    for message in messages:
        progress = after(progress, message)
    return progress


STAGE = {"event": "stage", "stage": "tets", "body": "Jelly", "progress": 0.25, "text": "fTetWild: pass 3"}
START = {"event": "start", "frames": [11, 20], "steps_per_frame": 5}
FRAME = {"event": "frame", "frame": 13, "ms": 40.0, "left_s": 7.5}


def test_a_stage_has_its_own_fraction():
    progress = progress_after(STAGE)
    assert (progress.text, progress.fraction, progress.left_s) == ("Filling the shape, only once", 0.25, None)
    assert progress_after(STAGE, {**STAGE, "progress": None}).fraction is None


def test_a_stage_is_shown_in_an_artists_words_with_its_fraction():
    assert line(progress_after(STAGE)) == "Filling the shape, only once, 25 %"
    assert line(progress_after({**STAGE, "progress": None})) == "Filling the shape, only once"
    assert line(progress_after({"event": "stage", "progress": 0.5, "text": "Reading the animation"})) \
        == "Reading the animation, 50 %"
    assert line(progress_after({"event": "stage", "progress": 1.0, "text": "Writing PC2"})) == "Writing PC2"
    # frames are counted already
    assert line(progress_after(STAGE, START, FRAME)) == "Frame 13 of 20, 8 s left"


def test_a_message_leaves_out_its_path_in_scene_json():
    text = '"Ear": the surface is not a box. Use fTetWild - at `$.bodies[0].surface`.'
    progress = progress_after({"event": "error", "code": "bad_mesh", "text": text},
                              {"event": "end", "code": 2, "text": text})
    assert (progress.error, progress.text) == ('"Ear": the surface is not a box. Use fTetWild.',
                                               '"Ear": the surface is not a box. Use fTetWild')


def test_every_stage_fits_into_one_line_of_the_sidebar():
    from conjac.conjac_addon.bake.progress import WORDS

    assert max(len(line(progress_after({**STAGE, "stage": stage}))) for stage in WORDS) <= 34


def test_frames_fill_the_bar():
    assert progress_after(STAGE, START).fraction == 0.0
    progress = progress_after(STAGE, START, FRAME)
    assert progress.text == "Frame 13 of 20" and progress.left_s == 7.5
    assert progress.fraction == pytest.approx(0.3)
    assert progress_after(START, {**FRAME, "frame": 20}).fraction == 1.0
    assert progress_after(FRAME).text == "Frame 13"


def test_the_end_says_how_it_ended():
    done = progress_after(START, FRAME, {"event": "end", "code": 0, "text": "All frames are baked."})
    assert (done.exit_code, done.text, done.fraction, done.left_s) == (0, "All frames are baked", 1.0, None)
    failed = progress_after(START, FRAME,
                            {"event": "error", "code": "diverged", "exit": 3, "object": "Jelly", "frame": 14,
                             "text": "Blew up."},
                            {"event": "end", "code": 3, "text": "Blew up."})
    assert (failed.exit_code, failed.error, failed.error_code, failed.frame) == (3, "Blew up.", "diverged", 13)
    assert failed.fraction == pytest.approx(0.3)


def test_a_remedy_of_the_command_line_is_not_shown_where_the_bake_goes_on_by_itself():
    text = "The cache was baked before these changed: step. Bake again without resuming to replace it."
    progress = progress_after({"event": "error", "code": "stale_cache", "text": text},
                              {"event": "end", "code": 2, "text": text})
    assert (progress.text, progress.error) == ("Comparing with the last bake", text)


def test_notes_are_stored_and_unknown_events_change_nothing():
    progress = progress_after({"event": "log", "text": "a"}, {"event": "log", "text": "b"})
    assert progress.notes == ("a", "b")
    assert after(progress, {"event": "of a newer solver", "text": "c"}) == progress
    assert after(progress, {}) == progress


def test_durations():
    assert [duration(s) for s in (0.4, 99, 120, 9000)] == ["0 s", "99 s", "2 min", "2.5 h"]


def test_the_time_left_is_shown_while_there_is_some():
    assert [remaining(s) for s in (None, 0.0, 0.4, 0.6, 150)] == ["", "", "", ", 1 s left", ", 2 min left"]
