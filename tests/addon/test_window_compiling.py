"""After an install the window reports that kernels are compiled behind it, and clears the status line when they are."""

import shutil
import subprocess
import sys

import linked_kernels
import numpy as np
import pytest
from test_window import ROOT, in_a_window

SCRIPT = """
import os, subprocess, sys, traceback
import bpy

def install():
    bpy.context.preferences.view.show_splash = False
    bpy.ops.extensions.package_install_files(filepath={zip!r}, repo="user_default", enable_on_install=True,
                                             overwrite=True)

def picture(path):
    subprocess.run(["import", "-window", "root", "-depth", "8", path], check=True)

def artist():
    yield
    install()
    from bl_ext.user_default.conjac.conjac_addon import status_line
    from bl_ext.user_default.conjac.conjac_addon.bake import kernels
    for _ in range(600):
        if status_line._shown_in:
            break
        yield
    for _ in range(4):  # drawn
        yield
    assert kernels._worker is not None
    picture({shown!r})
    while kernels._worker is not None:
        yield
    for _ in range(4):
        yield
    picture({silent!r})
    assert not status_line._shown_in
    print("compiled", [path.name for path in kernels.folder().glob("compiled-*")], flush=True)

steps = artist()

def tick():
    try:
        next(steps)
    except StopIteration:
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    return 0.1

bpy.app.timers.register(tick, first_interval=0.2)
"""

HEIGHT = 26  #: pixels at the bottom of the window where the line stands


def pixels(path):
    made = subprocess.run(["convert", str(path), "-depth", "8", "ppm:-"], capture_output=True, check=True).stdout
    _, size, _, data = made.split(b"\n", 3)
    width, height = (int(part) for part in size.split())
    return np.frombuffer(data, np.uint8).reshape(height, width, 3).astype(int)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("import") is None or shutil.which("convert") is None, reason="needs ImageMagick")
def test_the_window_says_that_kernels_are_compiled_until_they_are(tmp_path, monkeypatch):
    sys.path.insert(0, str(ROOT))
    from scripts import build_extension

    for folder in ("config", "extensions", "scripts", "datafiles"):
        (tmp_path / "user" / folder).mkdir(parents=True)
    linked_kernels.give(tmp_path / "user/extensions/.user/user_default", without=["definite_kernels"])
    monkeypatch.delenv("NUMBA_CACHE_DIR")  # who says it has nothing compiled behind the window
    shown, silent = tmp_path / "shown.png", tmp_path / "silent.png"
    output = in_a_window(SCRIPT.replace("{zip!r}", repr(str(build_extension.build(tmp_path / "dist"))))
                         .replace("{shown!r}", repr(str(shown))).replace("{silent!r}", repr(str(silent))),
                         tmp_path, screen="1600x1000")
    assert "compiled ['compiled-" in output, output
    before, after = (np.abs(picture[-HEIGHT:] - np.median(picture[-HEIGHT:], axis=(0, 1))).max(axis=2) > 40
                     for picture in (pixels(shown), pixels(silent)))
    assert before.sum() > 300 and (before != after).sum() > 300  # a sentence, which has disappeared
