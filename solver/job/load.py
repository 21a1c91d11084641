"""Reading of a job folder. Its errors are reported here, before anything is computed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from ..errors import NoSuchThing
from . import schema
from .files import LARGEST_JSON, open_regular
from .folder import Job, refuse
from .validate import check

SCENE = "scene.json"


def load(path: Path | str) -> Job:
    """Read JOB/scene.json, check it against the schema, the catalogue and its arrays, and return the job.

    path: the job folder JOB. Raises BadScene, BadMesh or NoSuchThing, each with the path of the field; NoSuchThing also
    for a missing scene.json.
    """
    folder = Path(path)
    raw = read_scene(folder / SCENE)
    version = raw.get("version")
    if version != schema.VERSION or isinstance(version, bool):
        raise refuse(f"scene.json is of version {version!r} and this ConJac reads version {schema.VERSION}",
                     "$.version", "Gather the scene again with this version")
    try:
        scene = msgspec.convert(raw, schema.Scene)
    except msgspec.ValidationError as error:
        text, _, where = str(error).partition(" - at `")
        raise refuse(f"scene: {text}", where.rstrip("`") or "$") from error
    job = Job(folder, scene, raw)
    check(job)
    return job


def read_scene(path: Path) -> dict[str, Any]:
    """Return a scene.json as plain values.

    Raises NoSuchThing where it is missing or cannot be read, BadScene where it is not a JSON object.
    """
    try:
        with open_regular(path) as stream:
            content = stream.read(LARGEST_JSON + 1)
        if len(content) > LARGEST_JSON:
            raise refuse(f"{path.name} is larger than {LARGEST_JSON >> 20} MB", "$", "Put long lists into arrays")
        raw = msgspec.json.decode(content)
    except FileNotFoundError as error:
        raise NoSuchThing(f"there is no {path}", "Give the folder that holds a job's scene.json") from error
    except OSError as error:
        raise NoSuchThing(f"{path} cannot be read ({error.strerror or error})") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise refuse(f"{path.name}: {error}", "$") from error
    except RecursionError as error:
        raise refuse(f"{path.name} is nested too deeply", "$") from error
    if not isinstance(raw, dict):
        raise refuse(f"{path.name}: Expected `object`, got `{type(raw).__name__}`", "$")
    return raw
