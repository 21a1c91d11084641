"""The room test of a setting: one field of the schema, with its marks, and every table of settings has it."""

import json
import subprocess
import sys

from small_jobs import box_job, change

ADDED = """
import json, sys
from typing import Annotated
from msgspec import Meta, field
from solver import threads
from solver.job import schema
from solver.job.schema_values import AMONG_BODIES, SEPARATE, SOLVE, Called

class Body(schema.Body):
    sparkle: Annotated[Annotated[float, Meta(ge=0)] | None, SOLVE, Called("how it sparkles"), AMONG_BODIES] = None
    dull: Annotated[bool, schema.FIELDS] = False

class Scene(schema.Scene):
    bodies: Annotated[list[Body], SEPARATE] = field(default_factory=list)

schema.Body, schema.Scene = Body, Scene

from pathlib import Path
from solver.errors import BadScene
from solver.job.changes import list_changes
from solver.job.hashes import hashes, settings
from solver.job.load import load

found = []
for folder in sys.argv[1:]:
    try:
        read = settings(load(Path(folder)))
        found.append([read.plain(), hashes(read).plain()])
    except BadScene as refused:
        found.append([str(refused), {}])
plain = [settings for settings, _ in found]
print(json.dumps({"hashes": [of for _, of in found], "refused": plain[3],
                  "changed": [list_changes(plain[0], other) for other in (plain[1], plain[2], plain[4])]}))
"""


def test_a_setting_is_one_field_of_the_schema(tmp_path):
    """One declaration is decoded and checked, hashed by the stage that reads it, named where it changed, and left out
    of the list of a new body's changes."""
    jobs = [box_job(tmp_path / str(k), end=2, motion=False) for k in range(5)]
    change(jobs[1], "bodies.0.sparkle", 0.5)
    change(jobs[2], "bodies.0.dull", True)
    change(jobs[3], "bodies.0.sparkle", -1.0)
    change(jobs[4], "bodies.0.sparkle", 0.5)
    [body] = json.loads((jobs[4] / "scene.json").read_text())["bodies"]
    change(jobs[4], "bodies", [body, {**body, "name": "Other"}])

    done = subprocess.run([sys.executable, "-c", ADDED, *map(str, jobs)], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    output = json.loads(done.stdout)
    plain, sparkling, dull, *_ = output["hashes"]
    assert sparkling["solve"] != plain["solve"] and sparkling["bodies"] == plain["bodies"]
    assert dull["bodies"]["Ear"]["fields"] != plain["bodies"]["Ear"]["fields"]
    assert dull["bodies"]["Ear"]["tets"] == plain["bodies"]["Ear"]["tets"]
    assert output["changed"] == [['how it sparkles of "Ear"'], ['dull of "Ear"'], ['body "Other" (new)']]
    assert "sparkle" in output["refused"] and ">= 0" in output["refused"]


def test_a_setting_without_its_stage_is_refused():
    code = ("from solver import threads\nfrom solver.job import schema, field_rules\n"
            "class Body(schema.Body):\n    sparkle: float = 0.0\nfield_rules.stages(Body)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "TypeError: Body.sparkle needs the stage that reads it" in done.stderr
