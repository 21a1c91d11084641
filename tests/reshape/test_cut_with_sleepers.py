"""A body whose nodes may sleep is cut: everyone is awake after it, and a resumed bake gives the same bytes."""

from cut_jobs import PLANE, Listener, bar_job

from solver import simulate
from solver.frames.read import Cache


def test_a_cut_wakes_everyone_and_a_resumed_bake_is_the_same(tmp_path):
    # away from where it was painted, so that the body is quiet before the cut and falls apart after it
    jobs = [bar_job(tmp_path / name, {**PLANE, "frame": 12}, end=20, young=2e6, surface=False,
                    method={"kind": "conjac", "params": {"adaptive": True, "liveliness_threshold": 0.02}},
                    gravity=[0.0, 0.0, -1.0]) for name in ("whole", "parts")]
    simulate.bake(jobs[0], Listener())
    simulate.bake(jobs[1], Listener(), frames=(1, 14))
    simulate.bake(jobs[1], Listener(), resume=True)
    caches = [Cache(job / "cache") for job in jobs]
    assert caches[0].cut_frames() == [12]
    recorded = caches[0].diagnostics.liveliness()["Bar"]
    assert not recorded.awake[11].any() and recorded.awake[12].all()
    for frame in range(1, 21):
        assert caches[0].vertices(frame).tobytes() == caches[1].vertices(frame).tobytes()
    assert recorded.levels.tobytes() == caches[1].diagnostics.liveliness()["Bar"].levels.tobytes()
