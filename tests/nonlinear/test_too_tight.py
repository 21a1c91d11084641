"""A tolerance that asks for more digits than there are is named as what to change, and only where it is that."""

import json

import pytest
from small_jobs import box_job

from solver.errors import TOO_TIGHT, Diverged
from solver.simulate import bake


class Silent:
    """A reporter that discards its messages."""

    def __getattr__(self, name):
        return lambda *arguments, **more: None


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
    message = failure_of(tmp_path, integrator=integrator, stage_solver={"tolerance": 1e-12, "force_scale": 1e-9})
    assert message.startswith('"Ear", frame') and "which is what rounding leaves" in message
    assert f"{TOO_TIGHT}; earlier frames are kept" in message and "Lower the step" not in message


def test_a_force_scale_far_below_what_moves_is_reported_too(tmp_path):
    """At rest without weight, only the force scale determines which forces are small."""
    message = failure_of(tmp_path, integrator="bdf2", stage_solver={"tolerance": 1e-6, "force_scale": 1e-9},
                      motion=False, gravity=[0, 0, -1e-3])
    assert TOO_TIGHT in message


def test_what_is_not_rounding_is_not_called_so(tmp_path):
    message = failure_of(tmp_path, integrator="bdf2", stage_solver={"iterations": 1}, youngs_modulus=2e4)
    assert "did not converge in 1 iterations" in message and TOO_TIGHT not in message and "Lower the step" in message
