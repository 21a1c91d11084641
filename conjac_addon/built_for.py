"""Which Python a zip was built for: wheels of another Python do not load, and Blender lets the zip in all the same."""

import sys
from pathlib import Path

RECORD = Path(__file__).with_name("built_for.json")  #: written by scripts/build_extension.py; absent in a checkout


def why_not(record: Path = RECORD, version: tuple[int, int] = sys.version_info[:2]) -> str:
    """Return a sentence that names the right zip where this one is for another Python, else ""."""
    if not record.exists():
        return ""
    here, text = f"{version[0]}.{version[1]}", record.read_text(encoding="utf-8")
    if f'"python": "{here}"' in text:
        return ""
    import json  # which Blender's start does without

    built = json.loads(text)
    right = built["zips"].get(here)
    known = ", ".join(built["zips"])
    remedy = f"install {right} instead" if right else f"there is none for it, only for Python {known}"
    return f"This zip of ConJac is for Python {built['python']}, and this Blender has Python {here}: {remedy}"
