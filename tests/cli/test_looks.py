"""`solver fields`, `solver suggest` and `solver wobble`, which Blender's previews and pipelines use."""

import forked_command
import numpy as np
import pytest
from small_jobs import box_job, box_tets, change
from test_cli import run

from solver.meshing.volume import boundary_faces


def test_fields_are_written_whole_beside_the_tets(tmp_path):
    job = box_job(tmp_path / "job", end=2)
    change(job, "bodies.0.fiber_material", {"kind": "astvk", "params": {"fiber_modulus": 2e5}})
    change(job, "bodies.0.fiber_field", {"kind": "straight", "params": {"fiber_x": 0.5, "fiber_z": 0.0}})
    code, events, errors = run("fields", job)
    assert code == 0, errors
    fields, = (event for event in events if event["event"] == "fields")
    assert fields["body"] == "Ear" and fields["path"].startswith(str(job / "stages")) and fields["notes"] == []
    nodes, tets = box_tets()
    with np.load(fields["path"]) as stored:
        np.testing.assert_array_equal(stored["nodes"], nodes)
        np.testing.assert_array_equal(stored["tets"], tets)
        np.testing.assert_array_equal(stored["fibers"], np.tile([1.0, 0.0, 0.0], (len(tets), 1)))
        for key, value in (("youngs_modulus", 2e4), ("poisson_ratio", 0.4), ("density", 1e3), ("fiber_modulus", 2e5)):
            np.testing.assert_allclose(stored[key], value, err_msg=key)
        np.testing.assert_array_equal(stored["faces"], boundary_faces(tets)[0])
        assert stored["pinned"].tolist() == np.flatnonzero(nodes[:, 0] == 0).tolist()
    assert not list((job / "stages").glob("*.new"))


def test_a_suggestion_is_a_position_inside_the_body(tmp_path):
    job = box_job(tmp_path / "job", end=2, cells=(8, 4, 4), motion=False)
    change(job, "bodies.0.dynamic", {})
    code, events, errors = run("suggest", job, "--count", 1)
    assert code == 0, errors
    suggestion, = (event for event in events if event["event"] == "suggest")
    (x, y, z), = suggestion["points"]
    assert 0.14 < x < 0.2 and 0.0 < y < 0.1 and 0.0 < z < 0.1
    assert {"tets", "suggest"} & {event.get("stage") for event in events} == {"suggest"}
    again = run("suggest", job, "--count", 1)[1]
    assert suggestion in again


def test_too_many_are_refused_with_the_name_of_the_body(tmp_path):
    code, events, _ = run("suggest", box_job(tmp_path / "job", end=2), "--count", 50)
    error, = (event for event in events if event["event"] == "error")
    assert code == 2 and error["object"] == "Ear" and "room for" in error["text"]
    assert error["where"] == "$.bodies[0].dynamic"


@pytest.mark.parametrize("count", ["0", "-3", "some"])
def test_a_count_is_a_number_from_1_on(tmp_path, count):
    code, _, errors = forked_command.run("suggest", tmp_path, f"--count={count}")
    assert code == 2 and f'"{count}" is not a number from 1 on' in errors


def test_the_slowest_wobble_and_what_makes_it_slower(tmp_path):
    job = box_job(tmp_path / "job", end=2)
    code, events, errors = run("wobble", job, "--hertz", 5)
    assert code == 0, errors
    wobble, = (event for event in events if event["event"] == "wobble")
    # it hangs under its load, which deforms a stiffer body less
    assert wobble["body"] == "Ear" and wobble["times"] == pytest.approx((5.0 / wobble["hertz"]) ** 2, rel=0.3)
    change(job, "bodies.0.material.params.youngs_modulus", 2e4 * wobble["times"])
    again, = (event for event in run("wobble", job)[1] if event["event"] == "wobble")
    assert again["hertz"] == pytest.approx(5.0, rel=0.01) and again["times"] == pytest.approx(0.25, rel=0.3)


@pytest.mark.parametrize("hertz", ["0", "-3", "nan", "inf", "some"])
def test_a_frequency_is_above_zero(tmp_path, hertz):
    code, _, errors = forked_command.run("wobble", tmp_path, f"--hertz={hertz}")
    assert code == 2 and f'"{hertz}" is not a number above 0' in errors
