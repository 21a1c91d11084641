"""Contents of the committed .blend examples, beside those that their build scripts make."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def committed_and_built(names, script, built_examples):
    """{("committed" | "built", name): facts}. script: prints "FACTS" and the JSON of {path: facts} for its arguments.

    built_examples: the fixture.
    """
    places = {"committed": ROOT / "examples_blend", "built": built_examples(names)}
    paths = {(kind, name): str(where / f"{name}.blend") for kind, where in places.items() for name in names}
    ran = subprocess.run([sys.executable, "-c", script, *paths.values()], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(next(line for line in ran.stdout.splitlines() if line.startswith("FACTS"))[5:])
    return {key: told[path] for key, path in paths.items()}
