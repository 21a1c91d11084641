"""A bundle is checked and run by Open Job Description's own program, and by node for Flamenco."""

import json
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from openjd.model import decode_job_template
from small_jobs import box_job, change

from solver import cli
from solver.errors import BadInput
from solver.farm import bundle, template
from solver.frames.read import Cache

ROOT = Path(__file__).resolve().parents[2]
WEDGE = "time.step=0.02\nbodies[Ear].density=500\n"


def made(folder, end=21, **more):
    """A bundle of two rows, and the command of the solver as a worker has it."""
    rows = folder / "rows.csv"
    rows.write_text(WEDGE)
    job = box_job(folder / "a jöb", end=end, step=1 / 48)
    bundle.write(job, folder / "bündle 1", wedge=rows, **more)
    return folder / "bündle 1", solver_command(folder)


def solver_command(folder):
    command = folder / "conjac-solver"
    command.write_text(f'#!/bin/sh\nexec env PYTHONPATH="{ROOT}" "{sys.executable}" -m solver "$@"\n')
    command.chmod(0o755)
    return command


def openjd(*arguments):
    return subprocess.run([sys.executable, "-m", "openjd", *map(str, arguments)], capture_output=True, text=True)


def frames(cache):
    return {path.name: path.read_bytes() for path in sorted((cache / "frames").iterdir())}


def test_openjd_checks_the_template_and_runs_a_wedge_in_chunks(tmp_path):
    folder, command = made(tmp_path, chunk="10")
    checked = openjd("check", folder / "conjac.template.yaml")
    assert checked.returncode == 0, checked.stdout
    ran = openjd("run", folder / "conjac.template.yaml", "--step", "ContactSheet", "--run-dependencies", "-p",
                 f"Solver={command}")
    assert ran.returncode == 0, ran.stdout
    assert "Chunks run: 9" in ran.stdout and (folder / "out/wedge.png").stat().st_size > 1000
    for row in (1, 2):
        cache = Cache(folder / f"out/row-{row:04d}/cache")
        assert cache.status().state == "complete" and len(cache.manifest["runs"]) == 2
        # what chunks have baked is what one bake gives, byte for byte
        whole = box_job(tmp_path / f"whole{row}", end=21, step=1 / 48)
        change(whole, *(("time.step", 0.02), ("bodies.0.density", 500))[row - 1])
        assert cli.main(["bake", str(whole)], read_stdin=False) == 0
        assert frames(whole / "cache") == frames(cache.folder)
    # a finished job is told again without a frame made anew
    before = {path: path.stat().st_mtime_ns for path in folder.glob("out/row-*/cache/frames/*")}
    again = openjd("run", folder / "conjac.template.yaml", "--step", "Simulate2", "--no-run-dependencies", "-p",
                   f"Solver={command}")
    assert again.returncode == 0 and "already baked" in again.stdout
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_a_failed_chunk_is_one_sentence_to_the_queue(tmp_path):
    folder, command = made(tmp_path, chunk="10")
    ran = openjd("run", folder / "conjac.template.yaml", "--step", "Simulate2", "--no-run-dependencies", "-p",
                 f"Solver={command}", "--task-param", "Row=2")
    assert ran.returncode != 0 and "Frames 12 to 21 need frame 11, which is not baked" in ran.stdout


def test_a_bundle_names_every_file_and_nothing_of_this_machine(tmp_path):
    folder, _ = made(tmp_path)
    listed = {file["path"] for file in json.loads((folder / "pack.json").read_text())["files"]}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert listed == there - {"pack.json"} and {"job/scene.json", "job/arrays/nodes.npy", "wedge.csv"} <= listed
    assert bundle.damaged(folder) == []
    for path in there:
        content = (folder / path).read_bytes()
        assert str(tmp_path).encode() not in content and socket.gethostname().encode() not in content
    values = yaml.safe_load((folder / "parameter_values.yaml").read_text(encoding="utf-8"))["parameterValues"]
    assert all(not str(one["value"]).startswith("/") for one in values)
    (folder / "wedge.csv").write_text("time.step=0.01\n")
    assert bundle.damaged(folder) == ["wedge.csv"]
    (folder / "job/note.txt").write_text(f"baked below {tmp_path}")
    assert bundle.of_this_machine(folder) == ["job/note.txt has the path of this bundle in it"]


def test_the_template_is_yaml_of_what_was_meant(tmp_path):
    shot = template.Shot("Ear: \"soft\" ü", 3, ((1, 11), (12, 20)), 1000.0, 2, "wedge.csv")
    meant = template.template(shot)
    assert yaml.safe_load(template.yaml(meant)) == meant
    steps = decode_job_template(template=meant).steps
    assert [step.name for step in steps] == ["Tetrahedralize", "Simulate1", "Simulate2", "Export", "ContactSheet"]
    assert [step.dependencies[0].dependsOn for step in steps[1:]] == [step.name for step in steps[:-1]]
    needs = {one["name"]: one["min"] for one in meant["steps"][1]["hostRequirements"]["amounts"]}
    assert needs == {"amount.worker.vcpu": 2, "amount.worker.memory": 1431}


def test_a_shot_with_a_blend_is_rendered_before_the_contact_sheet():
    meant = template.template(template.Shot("Ear", 2, ((1, 20),), 100.0, 1, None, "scene.blend"))
    render = decode_job_template(template=meant).steps[-2]
    assert (render.name, render.dependencies[0].dependsOn) == ("Render", "Export")
    assert "{{Param.Blender}}" == render.script.actions.onRun.command


def test_a_folder_that_is_not_empty_or_a_wedge_of_several_lengths_is_refused(tmp_path):
    job, rows = box_job(tmp_path / "job", motion=False), tmp_path / "rows.csv"
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").write_text("mine")
    with pytest.raises(BadInput, match="not an empty folder"):
        bundle.write(job, tmp_path / "full")
    rows.write_text("time.end=12\ntime.end=20\n")
    with pytest.raises(BadInput, match="other frames"):
        bundle.write(job, tmp_path / "out", wedge=rows, chunk="10")
    assert not (tmp_path / "out").exists()


RECORDED = """
const job = { settings: { bundle: "/shared/bundle/", rows: 2, solver: "conjac-solver" }, tasks: [],
              addTask(task) { this.tasks.push(task); } };
const author = {
    Task: (name, type) => ({ name, type, commands: [], after: [],
        addCommand(command) { this.commands.push(command); }, addDependency(task) { this.after.push(task.name); } }),
    Command: (name, parameters) => ({ name, parameters }),
};
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to run JavaScript")
def test_flamenco_gets_a_task_for_each_row_and_step_after_the_one_before(tmp_path):
    folder, _ = made(tmp_path, chunk="10")
    script = tmp_path / "job.js"
    script.write_text(RECORDED + (folder / "conjac.flamenco.js").read_text(encoding="utf-8")
                      + "\ncompileJob(job); console.log(JSON.stringify({ tasks: job.tasks, type: JOB_TYPE }));\n")
    ran = subprocess.run(["node", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    assert {one["key"] for one in said["type"]["settings"]} == {"bundle", "rows", "solver"}
    after = {task["name"]: task["after"] for task in said["tasks"]}
    assert after == {
        "row 1 tetrahedralize": [], "row 1 simulate 1-11": ["row 1 tetrahedralize"],
        "row 1 simulate 12-21": ["row 1 simulate 1-11"], "row 1 export": ["row 1 simulate 12-21"],
        "row 2 tetrahedralize": [], "row 2 simulate 1-11": ["row 2 tetrahedralize"],
        "row 2 simulate 12-21": ["row 2 simulate 1-11"], "row 2 export": ["row 2 simulate 12-21"],
        "contact sheet": ["row 1 export", "row 2 export"]}
    command = said["tasks"][1]["commands"][0]
    assert command["name"] == "exec" and command["parameters"] == {"exe": "conjac-solver", "args": [
        "task", "simulate", "/shared/bundle/job", "--out", "/shared/bundle/out", "--wedge", "/shared/bundle/wedge.csv",
        "--row", "1", "--frames=1-11", "--threads", "1"]}


def test_the_scripts_for_slurm_are_scripts(tmp_path):
    folder, _ = made(tmp_path, chunk="10")
    for name in ("slurm.sh", "task.sh"):
        assert subprocess.run(["bash", "-n", folder / name]).returncode == 0
    text = (folder / "slurm.sh").read_text()
    assert text.count("aftercorr") == 3 and "--frames=12-21" in text and "--requeue" in text
