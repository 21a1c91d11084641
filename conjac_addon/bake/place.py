"""Where the job folder and the results of an object lie."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path

import bpy

from ...solver.frames.read import Cache
from .. import members


def job_folder(obj: bpy.types.Object) -> Path:
    """The object's own folder inside the cache folder of its settings: <.blend>_<object>-<digest>.

    A soft body that hangs on a mechanism is baked with it and has no folder of its own. A .blend that was never saved
    has no "//": a folder that lives as long as this Blender stands in for it.
    """
    obj = members.owner(obj)
    chosen = obj.conjac.cache_folder or "//"
    blend = bpy.data.filepath
    root = Path(bpy.app.tempdir, "conjac_cache") if is_temporary(obj) else Path(bpy.path.abspath(chosen))
    library = obj.library.filepath if obj.library else ""
    readable = f"{safe_name(Path(blend).stem or 'untitled')}_{safe_name(obj.name)}"
    return root / f"{readable}-{_digest(Path(blend).name, library, obj.name)}"


def is_temporary(obj: bpy.types.Object) -> bool:
    """Whether the results will be deleted when Blender closes, as the .blend was never saved."""
    return not bpy.data.filepath and (members.owner(obj).conjac.cache_folder or "//").startswith("//")


def playback_path(obj: bpy.types.Object) -> Path:
    """Path, without a suffix, of the files that play the bake."""
    return job_folder(obj) / safe_name(obj.name)


def cache_of(folder: Path) -> Cache:
    """The frames of a job folder, as they are now."""
    return Cache(folder / "cache")


def safe_name(name: str) -> str:
    """A readable file name for any name: letters and digits of any alphabet stay, the rest becomes `_`."""
    kept = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", name)).strip("._-")
    # bytes, not letters: file systems count those
    while len(kept.encode()) > 80:
        kept = kept[:-1]
    return f"_{kept}" if not kept or kept.partition(".")[0].upper() in DEVICES else kept


#: names that Windows gives to devices
DEVICES = frozenset({"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10))})


def _digest(*names: str) -> str:
    """Keeps names apart that look the same once they are safe, or on a disk that does not tell capitals."""
    return hashlib.blake2b("\0".join(names).encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
