"""A bundle: a folder with all that a farm needs for a shot, and nothing of the machine that made it.

    conjac.template.yaml    the description, see `template`; template.yaml is the same for AWS Deadline Cloud
    parameter_values.yaml   the values of its parameters
    job/                    scene.json, the arrays that it names, volumes that were made already
    wedge.csv               rows of settings, where there is a wedge
    scene.blend render.py   what is rendered, where a .blend was given, and how
    pack.json               every file, with its size and blake2b
    slurm.sh task.sh        a runner for Slurm;  conjac.flamenco.js: a job type of Flamenco
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path

from ..errors import BadInput, NoSuchThing
from ..job.estimate import estimate
from ..job.files import digest, unwritable, write_whole
from ..job.folder import Job
from ..job.load import SCENE, load
from . import template
from .task import chunks_of
from .wedge import array_names, bring, check_rows, make_folders, read_bytes, read_rows

PACK, RENDER = "pack.json", "render.py.txt"


def write(job: Path, out: Path, *, wedge: Path | None = None, chunk: str | None = None, threads: int = 1,
          name: str | None = None, blend: Path | None = None) -> list[str]:
    """Write a bundle; returns sentences on what is in it.

    chunk: a number of frames, or a list of chunks; one task a row where left out. threads: of a task. name: of the
    shot; the scene's where left out. blend: what is rendered at the end, if anything. Raises a ConJacError where any
    row cannot be baked, BadInput where the folder is not empty, CacheUnwritable.
    """
    loaded, rows = load(job), read_rows(wedge)
    made = check_rows(loaded, rows)
    time = loaded.scene.time
    lengths = {(one.scene.time.start, one.scene.time.end) for one in made}
    if chunk is not None and len(lengths) > 1:
        raise BadInput("rows of the wedge have other frames, and chunks are the same for all", "Leave the chunks out")
    chunks = (chunks_of(chunk, *lengths.pop(), time.snapshot_every) if chunk is not None
              else [(min(first for first, _ in lengths), max(last for _, last in lengths))])
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"{out} is not an empty folder", "Choose another one, so that nothing old is sent")
    make_folders(out)
    found = estimate(job)
    shot = template.Shot(name or loaded.scene.name, len(rows), tuple(chunks), found.memory_mb, threads,
                         None if wedge is None else "wedge.csv", None if blend is None else "scene.blend")
    _copy_job(loaded, out / "job")
    texts = {"slurm.sh": template.slurm_submit(shot), "task.sh": template.slurm_task(),
             "conjac.flamenco.js": template.flamenco(shot)}
    described = template.template(shot)
    texts |= {file: template.yaml(described) for file in ("conjac.template.yaml", "template.yaml")}
    texts["parameter_values.yaml"] = template.yaml({"parameterValues": [
        {"name": one["name"], "value": one["default"]} for one in described["parameterDefinitions"]]})
    if wedge is not None:
        texts["wedge.csv"] = read_bytes(wedge).decode("utf-8-sig")
    if blend is not None:
        texts["render.py"] = read_bytes(Path(__file__).with_name(RENDER)).decode()
        try:
            shutil.copyfile(blend, out / "scene.blend")
        except OSError as error:
            raise NoSuchThing(f"{blend} cannot be copied ({error.strerror or error})", "Give a .blend file") from error
    for file, text in texts.items():
        write_whole(out / file, text.encode(), out)
    listed = pack_list(out)
    size = sum(int(file["bytes"]) for file in listed["files"])
    write_whole(out / PACK, json.dumps(listed, indent=1, ensure_ascii=False).encode(), out)
    return [f"{shot.name}: {_count(len(rows), 'row')}, {_count(len(chunks), 'chunk')} each, "
            f"{len(listed['files'])} files, {size / 1e6:.1f} MB",
            *found.sentences()[-2:], *of_this_machine(out)]


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _copy_job(job: Job, target: Path) -> None:
    """The job folder without its cache: what the scene names, and volumes that were made already."""
    make_folders(target)
    try:
        for name in array_names(job.raw):
            bring(job.array_path(name), target / name)
        for made in sorted(job.stages.glob("*_tets_*.npz")):
            bring(made, target / "stages" / made.name)
    except OSError as error:
        raise unwritable(target / SCENE, error) from error
    write_whole(target / SCENE, json.dumps(job.raw, indent=1, ensure_ascii=False).encode(), target)


def pack_list(folder: Path) -> dict[str, list[dict[str, str | int]]]:
    """Every file of a bundle by its path from there, with its size and blake2b, in order."""
    paths = sorted(Path(at, name) for at, _, names in os.walk(folder) for name in names)
    return {"files": [{"path": path.relative_to(folder).as_posix(), "bytes": path.stat().st_size,
                       "blake2b": digest(path)} for path in paths if path != folder / PACK]}


def damaged(folder: Path) -> list[str]:
    """Files of a bundle that are not what the pack list tells, or missing."""
    wrong = []
    for file in json.loads(read_bytes(folder / PACK))["files"]:
        path = folder / file["path"]
        if not path.is_file() or digest(path) != file["blake2b"]:
            wrong.append(str(file["path"]))
    return wrong


def of_this_machine(folder: Path) -> list[str]:
    """A sentence on each file that has this machine's name, the user's home or the bundle's place in it."""
    secrets = {"the name of this machine": socket.gethostname().encode(), "the path of your home": os.fsencode(
        Path.home()), "the path of this bundle": os.fsencode(folder.resolve().parent)}
    said = []
    for path in sorted(Path(at, name) for at, _, names in os.walk(folder) for name in names):
        content = read_bytes(path)
        said += [f"{path.relative_to(folder).as_posix()} has {what} in it" for what, text in secrets.items()
                 if len(text) > 5 and text in content]
    return said
