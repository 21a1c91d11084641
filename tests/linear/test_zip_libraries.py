"""Modes, projective dynamics and Play Live by the libraries of the zips, which have no scikit-sparse."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
FILES = ("live/test_playing.py", "live/test_projective_engine.py", "modes/test_reduced_body.py", "projective")


@pytest.mark.long
def test_drafts_and_play_live_need_no_scikit_sparse(tmp_path):
    hidden = tmp_path / "sksparse"
    hidden.mkdir()
    (hidden / "__init__.py").write_text('raise ImportError("a zip does not have it")\n')
    words = ["-m", "pytest", "-q", "-m", "not long", "-p", "no:cacheprovider", *(str(TESTS / name) for name in FILES)]
    run = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=560, cwd=TESTS.parent,
                         env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert run.returncode == 0, run.stdout[-3000:]
