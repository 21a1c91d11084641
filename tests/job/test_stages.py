"""A stage's result is stored under the hash of its inputs, and any body name gives a safe file."""

import numpy as np
import pytest
from small_jobs import box_job

from solver.errors import BadMesh
from solver.job.files import make_safe_name
from solver.job.load import load
from solver.job.stages import keep, load_stage, stage_path

NAMES = ["Ear", "Ohr links", "../../etc/passwd", "a/b", "a:b", "a_b", "A_b", "..", ".", "", "耳", "ухо", "\\",
         "x" * 300, "CON", "né", "ne\u0301", "a\x00b", "\udcff"]


def test_a_stage_is_made_once_and_stored(tmp_path):
    job, calls = load(box_job(tmp_path)), []

    def make():
        calls.append(1)
        return {"nodes": np.linspace(0, 1, 12).reshape(4, 3), "notes": np.array(["the surface was open", "ß"]),
                "none": np.array([], dtype=str)}

    first = keep(job, "tets", "Ear", "a" * 40, make)
    second = keep(job, "tets", "Ear", "a" * 40, make)
    assert len(calls) == 1 and first.keys() == second.keys()
    assert all(np.array_equal(first[key], second[key]) for key in first)
    assert list(second["notes"]) == ["the surface was open", "ß"] and not len(second["none"])
    keep(job, "tets", "Ear", "b" * 40, make)
    assert len(calls) == 2 and load_stage(job, "tets", "Ear", "c" * 40) is None


def test_a_damaged_file_is_made_again(tmp_path):
    job = load(box_job(tmp_path))
    keep(job, "tets", "Ear", "a" * 40, lambda: {"x": np.zeros(1000)})
    path = stage_path(job, "tets", "Ear", "a" * 40)
    path.write_bytes(path.read_bytes()[:500])
    assert keep(job, "tets", "Ear", "a" * 40, lambda: {"x": np.ones(2)})["x"].sum() == 2
    assert load_stage(job, "tets", "Ear", "a" * 40)["x"].sum() == 2


def test_nothing_is_stored_of_a_stage_that_failed(tmp_path):
    job = load(box_job(tmp_path))

    def make():
        raise BadMesh("flat")

    with pytest.raises(BadMesh):
        keep(job, "tets", "Ear", "a" * 40, make)
    assert not job.stages.exists()


@pytest.mark.parametrize("name", NAMES)
def test_any_name_gives_a_file_in_the_stages_folder(tmp_path, name):
    job = load(box_job(tmp_path))
    path = stage_path(job, "tets", name, "a" * 40)
    assert path.parent == job.stages and len(path.name.encode()) < 255
    keep(job, "tets", name, "a" * 40, lambda: {"x": np.ones(1)})
    assert [file.name for file in job.stages.iterdir()] == [path.name]


def test_names_stay_apart_where_capitals_do_not_count():
    names = {make_safe_name(name).lower() for name in NAMES}
    assert len(names) == len(NAMES)
