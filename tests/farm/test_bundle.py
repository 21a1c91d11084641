"""A bundle is checked and run by Open Job Description's own program, and by node for Flamenco."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from openjd.model import decode_job_template
from small_jobs import box_job, change
from test_islands_apart import three_boxes

from solver import cli
from solver.errors import BadInput
from solver.farm import bundle, runners, template
from solver.frames.read import Cache

ROOT = Path(__file__).resolve().parents[2]
javascript = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node to run JavaScript")
WEDGE = "time.step=0.02\nbodies[Ear].density=500\n"


def made(folder, end=21, **more):
    """Return a bundle of two rows, and the command of the solver as a worker has it."""
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


def deadline():
    """Return the command of AWS Deadline Cloud's client, or None."""
    own = ROOT / "build/deadline/bin/deadline"
    return str(own) if own.exists() else shutil.which("deadline")


def frames(cache):
    return {path.name: path.read_bytes() for path in sorted((cache / "frames").iterdir())}


@pytest.mark.long
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
        # chunks have the bytes of one bake
        whole = box_job(tmp_path / f"whole{row}", end=21, step=1 / 48)
        change(whole, *(("time.step", 0.02), ("bodies.0.density", 500))[row - 1])
        assert cli.main(["bake", str(whole)], read_stdin=False) == 0
        assert frames(whole / "cache") == frames(cache.folder)
    # a finished job reports its frames without solving one
    before = {path: path.stat().st_mtime_ns for path in folder.glob("out/row-*/cache/frames/*")}
    again = openjd("run", folder / "conjac.template.yaml", "--step", "Simulate2", "--no-run-dependencies", "-p",
                   f"Solver={command}")
    assert again.returncode == 0 and "already baked" in again.stdout
    assert before == {path: path.stat().st_mtime_ns for path in before}


@pytest.mark.long
def test_openjd_bakes_islands_as_tasks_and_joins_them(tmp_path):
    job, draft = three_boxes(tmp_path / "job"), three_boxes(tmp_path / "draft")
    assert cli.main(["bake", str(draft)], read_stdin=False) == 0
    rows, command, folder = tmp_path / "rows.csv", solver_command(tmp_path), tmp_path / "bundle"
    rows.write_text("bodies[Left].density=500\n")
    messages = bundle.write(job, folder, wedge=rows, chunk="1-5,6-9", draft=draft)
    assert [text.split(". ")[0] for text in messages if text.startswith("island")] == [
        "island-001: Left, Near", "island-002: Right"]
    assert openjd("check", folder / "conjac.template.yaml").returncode == 0
    ran = openjd("run", folder / "conjac.template.yaml", "--step", "ContactSheet", "--run-dependencies", "-p",
                 f"Solver={command}")
    assert ran.returncode == 0 and "Chunks run: 8" in ran.stdout, ran.stdout  # 1 + 2 chunks × 2 islands + 3
    row = folder / "out/row-0001"
    assert Cache(row / "cache").status(row).state == "complete" and (row / "export/played.json").exists()
    whole = three_boxes(tmp_path / "whole")
    change(whole, "bodies.0.density", 500)
    assert cli.main(["bake", str(whole)], read_stdin=False) == 0
    for frame in range(1, 10):
        for name, points in Cache(whole / "cache").frame(frame).items():
            assert np.abs(Cache(row / "cache").frame(frame)[name] - points).max() <= 1e-6 * 0.1
    again = openjd("run", folder / "conjac.template.yaml", "--step", "Join", "--no-run-dependencies", "-p",
                   f"Solver={command}")
    assert again.returncode == 0 and "already joined" in again.stdout


def test_a_list_of_islands_that_is_not_the_scene_s_is_one_sentence(tmp_path, capfd):
    job, path = three_boxes(tmp_path / "job"), tmp_path / "islands.json"
    for text, message in (('[["Left"]]', "does not have every soft body"), ("nonsense", "is no list of islands")):
        path.write_text(text)
        assert cli.main(["task", "simulate", str(job), "--out", str(tmp_path / "out"), "--islands", str(path),
                         "--island", "1"], read_stdin=False) == 2
        assert message in capfd.readouterr().err
    path.write_text('[["Left", "Near"], ["Right"]]')
    assert cli.main(["task", "simulate", str(job), "--out", str(tmp_path / "out"), "--islands", str(path),
                     "--island", "3"], read_stdin=False) == 2
    assert "there are 2 islands" in capfd.readouterr().err.lower()


def test_ctrl_c_lets_the_step_in_hand_end_and_the_row_goes_on(tmp_path):
    job, command = box_job(tmp_path / "job", end=400, step=1 / 96, cells=(12, 6, 6)), solver_command(tmp_path)
    bundle.write(job, tmp_path / "bundle")
    running = subprocess.Popen([sys.executable, "-m", "openjd", "run", str(tmp_path / "bundle/conjac.template.yaml"),
                                "--step", "Simulate", "--run-dependencies", "-p", f"Solver={command}"],
                               stdout=subprocess.PIPE, text=True)
    frames_at = tmp_path / "bundle/out/row-0001/cache/frames"
    end = time.monotonic() + 100
    while len(frames(frames_at.parent) if frames_at.exists() else ()) < 5:
        assert time.monotonic() < end and running.poll() is None
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate(timeout=100)
    assert running.returncode != 0 and "Stopped before frame" in output, output
    cache = Cache(frames_at.parent)
    assert cache.verify() == [] and 5 <= len(cache.frames_done()) < 400 and not (frames_at.parent / "lock").exists()


@pytest.mark.skipif(deadline() is None, reason="`deadline` is not installed: make test-farm does")
def test_aws_deadline_cloud_reads_the_bundle_offline(tmp_path):
    folder, _ = made(tmp_path, chunk="10")
    ran = subprocess.run([deadline(), "bundle", "info", folder, "--output", "json"], capture_output=True, text=True,
                         env=os.environ | {"HOME": str(tmp_path)})
    assert ran.returncode == 0, ran.stderr
    listing = json.loads(ran.stdout)
    assert listing["steps"] == ["Tetrahedralize", "Simulate1", "Simulate2", "Export", "ContactSheet"]
    shown = {entry["name"]: entry["_display_value"] for entry in listing["parameters"]}
    assert shown["JobFolder"] == "job" and shown["OutputFolder"] == "out" and shown["Rows"] == "1-2"


def test_a_failed_chunk_is_one_sentence_to_the_queue(tmp_path):
    folder, command = made(tmp_path, chunk="10")
    ran = openjd("run", folder / "conjac.template.yaml", "--step", "Simulate2", "--no-run-dependencies", "-p",
                 f"Solver={command}", "--task-param", "Row=2")
    assert ran.returncode != 0 and "Frames 12 to 21 need frame 11, which is not baked" in ran.stdout


def test_a_bundle_names_every_file_and_nothing_of_this_machine(tmp_path):
    folder, _ = made(tmp_path)
    listed = {file["path"] for file in json.loads((folder / "pack.json").read_text())["files"]}
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert listed == files - {"pack.json"} and {"job/scene.json", "job/arrays/nodes.npy", "wedge.csv"} <= listed
    assert bundle.find_damaged_files(folder) == []
    for path in files:
        content = (folder / path).read_bytes()
        assert str(tmp_path).encode() not in content and socket.gethostname().encode() not in content
    values = yaml.safe_load((folder / "parameter_values.yaml").read_text(encoding="utf-8"))["parameterValues"]
    assert all(not str(value["value"]).startswith("/") for value in values)
    (folder / "wedge.csv").write_text("time.step=0.01\n")
    assert bundle.find_damaged_files(folder) == ["wedge.csv"]
    (folder / "job/note.txt").write_text(f"baked below {tmp_path}")
    assert bundle.of_this_machine(folder) == ["job/note.txt has the path of this bundle in it"]


def test_the_template_is_yaml_of_what_was_meant(tmp_path):
    shot = template.Shot("Ear: \"soft\" ü", 3, ((1, 11), (12, 20)), 1000.0, 2, "wedge.csv")
    meant = template.template(shot)
    assert yaml.safe_load(template.yaml(meant)) == meant
    steps = decode_job_template(template=meant).steps
    assert [step.name for step in steps] == ["Tetrahedralize", "Simulate1", "Simulate2", "Export", "ContactSheet"]
    assert [step.dependencies[0].dependsOn for step in steps[1:]] == [step.name for step in steps[:-1]]
    needs = {entry["name"]: entry["min"] for entry in meant["steps"][1]["hostRequirements"]["amounts"]}
    assert needs == {"amount.worker.vcpu": 2, "amount.worker.memory": 1431}


def test_a_shot_with_a_blend_is_rendered_before_the_contact_sheet():
    meant = template.template(template.Shot("Ear", 2, ((1, 20),), 100.0, 1, None, "scene.blend"))
    render = decode_job_template(template=meant).steps[-2]
    assert (render.name, render.dependencies[0].dependsOn) == ("Render", "Export")
    assert "{{Param.Blender}}" == render.script.actions.onRun.command


@pytest.mark.parametrize("word, step", template.FORMATS.items())
def test_what_only_blender_exports_is_a_step_of_its_own(word, step):
    meant = template.template(template.Shot("Ear", 2, ((1, 20),), 100.0, 1, None, "scene.blend", word))
    steps = decode_job_template(template=meant).steps
    assert [bundle_step.name for bundle_step in steps[2:]] == ["Export", step, "Render", "ContactSheet"]
    assert steps[3].script.actions.onRun.args[7] == word


def test_only_blender_exports_alembic(tmp_path):
    with pytest.raises(BadInput, match="no .blend is given"):
        bundle.write(box_job(tmp_path / "job", motion=False), tmp_path / "out", format="abc")


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


#: job and author as the manager of Flamenco 3 gives them to a job type
RECORDED = """
const job = { settings: { bundle: "/shared/bundle/", rows: 2, solver: "conjac-solver" }, tasks: [],
              addTask(task) { this.tasks.push(task); } };
const author = {
    Task: (name, type) => ({ name, type, commands: [], after: [],
        addCommand(command) { this.commands.push(command); }, addDependency(task) { this.after.push(task.name); } }),
    Command: (name, parameters) => ({ name, parameters }),
};
"""


def compiled(script, folder):
    """Return the compiled job type: its tasks, and JOB_TYPE."""
    path = folder / "job.js"
    path.write_text(RECORDED + script + "\ncompileJob(job); console.log(JSON.stringify({ tasks: job.tasks, "
                    "type: JOB_TYPE }));\n")
    ran = subprocess.run(["node", path], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@javascript
def test_flamenco_joins_a_row_s_islands():
    shot = template.Shot("boxes", 1, ((1, 5), (6, 9)), 100.0, 1, islands=2)
    with tempfile.TemporaryDirectory() as folder:
        compiled_job = compiled(runners.flamenco(shot), Path(folder))
    after = {task["name"]: task["after"] for task in compiled_job["tasks"] if "row 1" in task["name"]}
    assert after["row 1 join"] == ["row 1 simulate 6-9 island 1", "row 1 simulate 6-9 island 2"]
    assert after["row 1 simulate 6-9 island 2"] == ["row 1 simulate 1-5 island 2"]
    assert after["row 1 simulate 1-5 island 2"] == ["row 1 tetrahedralize"] and after["row 1 export"] == ["row 1 join"]
    [last] = [task for task in compiled_job["tasks"] if task["name"] == "row 1 simulate 6-9 island 2"]
    assert last["commands"][0]["parameters"]["args"][-4:] == ["--islands", "/shared/bundle/islands.json", "--island",
                                                             "2"]


@javascript
def test_flamenco_gets_a_task_for_each_row_and_step_after_the_one_before(tmp_path):
    folder, _ = made(tmp_path, chunk="10")
    compiled_job = compiled((folder / "conjac.flamenco.js").read_text(encoding="utf-8"), tmp_path)
    assert {entry["key"] for entry in compiled_job["type"]["settings"]} == {"bundle", "rows", "solver"}
    after = {task["name"]: task["after"] for task in compiled_job["tasks"]}
    assert after == {
        "row 1 tetrahedralize": [], "row 1 simulate 1-11": ["row 1 tetrahedralize"],
        "row 1 simulate 12-21": ["row 1 simulate 1-11"], "row 1 export": ["row 1 simulate 12-21"],
        "row 2 tetrahedralize": [], "row 2 simulate 1-11": ["row 2 tetrahedralize"],
        "row 2 simulate 12-21": ["row 2 simulate 1-11"], "row 2 export": ["row 2 simulate 12-21"],
        "contact sheet": ["row 1 export", "row 2 export"]}
    command = compiled_job["tasks"][1]["commands"][0]
    assert command["name"] == "exec" and command["parameters"] == {"exe": "conjac-solver", "args": [
        "task", "simulate", "/shared/bundle/job", "--out", "/shared/bundle/out", "--wedge", "/shared/bundle/wedge.csv",
        "--row", "1", "--frames=1-11", "--threads", "1"]}


def test_the_scripts_for_slurm_are_scripts(tmp_path):
    folder, _ = made(tmp_path, chunk="10")
    for name in ("slurm.sh", "task.sh"):
        assert subprocess.run(["bash", "-n", folder / name]).returncode == 0
    text = (folder / "slurm.sh").read_text()
    assert text.count("aftercorr") == 3 and "--frames=12-21" in text and "--requeue" in text


SBATCH = """#!/bin/sh
count=$(($(cat count 2>/dev/null || echo 0) + 1)); echo $count > count
echo "$count $*" >> asked
echo $count
"""


def test_slurm_joins_a_row_s_islands_when_all_are_baked(tmp_path):
    shot = template.Shot("boxes", 2, ((1, 5), (6, 9)), 100.0, 1, "wedge.csv", islands=2)
    (tmp_path / "slurm.sh").write_text(runners.slurm_submit(shot))
    (tmp_path / "sbatch").write_text(SBATCH)
    (tmp_path / "sbatch").chmod(0o755)
    ran = subprocess.run(["bash", tmp_path / "slurm.sh"], env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
                         capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    after = [(re.search(r"task.sh (\w+)", line)[1], re.findall(r"--dependency=(\S+)", line))
             for line in (tmp_path / "asked").read_text().splitlines()]
    assert after == [
        ("tetrahedralize", []), ("simulate", ["aftercorr:1"]), ("simulate", ["aftercorr:2"]),
        ("simulate", ["aftercorr:1"]), ("simulate", ["aftercorr:4"]), ("join", ["aftercorr:3,aftercorr:5"]),
        ("export", ["aftercorr:6"]), ("sheet", ["afterok:7"])]
