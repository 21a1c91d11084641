"""A tolerance that asks for more digits than there are is named as what to change, and only where it is that."""

import json

import pytest
from small_jobs import box_job

from solver.errors import TOO_TIGHT, Diverged
from solver.simulate import bake


class Silent:
    """A reporter that discards its messages."""

    def __getattr__(self, name):
        return lambda *told, **more: None


def failure_of(folder, *, integrator, stage_solver, youngs_modulus=1e9, **scene):
    job = box_job(folder, end=4, method={"kind": "vanilla"}, integrator={"kind": integrator},
                  stage_solver={"kind": "qlb", "params": stage_solver}, **scene)
    document = json.loads((job / "scene.json").read_text())
    document["bodies"][0]["material"]["params"]["youngs_modulus"] = youngs_modulus
    (job / "scene.json").write_text(json.dumps(document))
    with pytest.raises(Diverged) as failure:
        bake(job, Silent(), threads=1)
    return str(failure.value)


@pytest.mark.parametrize("integrator", ["bdf2", "backward_euler", "sdirk2", "generalized_alpha"])
def test_the_tolerance_is_what_to_raise_where_only_rounding_is_left(tmp_path, integrator):
    said = failure_of(tmp_path, integrator=integrator, stage_solver={"tolerance": 1e-12, "force_scale": 1e-9})
    assert said.startswith('"Ear", frame') and "which is what rounding leaves" in said
    assert f"{TOO_TIGHT}; earlier frames are kept" in said and "Lower the step" not in said


def test_a_force_scale_far_below_what_moves_is_told_so_too(tmp_path):
    """At rest without weight, only the force scale determines which forces are small."""
    said = failure_of(tmp_path, integrator="bdf2", stage_solver={"tolerance": 1e-6, "force_scale": 1e-9},
                      motion=False, gravity=[0, 0, -1e-3])
    assert TOO_TIGHT in said


def test_what_is_not_rounding_is_not_called_so(tmp_path):
    said = failure_of(tmp_path, integrator="bdf2", stage_solver={"iterations": 1}, youngs_modulus=2e4)
    assert "did not converge in 1 iterations" in said and TOO_TIGHT not in said and "Lower the step" in said
