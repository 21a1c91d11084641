"""Set-up names what is missing in one line, and installs nothing twice."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from scripts import setup

PROJECT = tomllib.loads((setup.ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.skipif(shutil.which("dpkg-query") is None, reason="not a Debian")
def test_a_missing_package_is_named_to_who_may_not_install_it(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(setup.SetupStopped) as stop:
        setup.install_system(["libc6", "conjac-no-such-package"])
    assert str(stop.value).endswith("run again: conjac-no-such-package")
    assert "\n" not in str(stop.value)


def test_every_pin_is_exact():
    for group, lines in setup.pins(PROJECT).items():
        for line in lines:
            name, equals, version = line.partition("==")
            assert name and equals and version, f"{group}: {line}"


@pytest.mark.skipif(not setup.STAMP.exists(), reason="this Python was not set up by make")
def test_a_second_run_installs_nothing():
    before = setup.STAMP.stat().st_mtime_ns
    ran = subprocess.run([sys.executable, "scripts/setup.py"], cwd=setup.ROOT, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert setup.STAMP.stat().st_mtime_ns == before


def test_ci_runs_the_suite_in_a_fresh_clone():
    script = Path(setup.ROOT, ".ci", "run").read_text(encoding="utf-8")
    assert script.startswith("#!/bin/bash") and "make test" in script
