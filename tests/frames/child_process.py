"""Python programs that run as processes of their own and find the solver."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def child(code: str, *arguments, **options) -> subprocess.Popen:
    """Return a process that runs a program with these arguments; its pipes are open, in text."""
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], cwd=ROOT, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
