"""Set-up names what is missing in one line, and installs nothing twice."""

import os
import re
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


def test_ci_runs_the_suite_of_a_clone_that_has_nothing_beside_it(tmp_path):
    """Stubs instead of git and make record their arguments and folder."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, lines in (("git", 'mkdir -p "${@: -1}"'), ("make", 'ls -A "$2/.." && exit 7')):
        (programs / name).write_text(f'#!/bin/bash\necho "{name} $*"\n{lines}\n')
        (programs / name).chmod(0o755)
    ran = subprocess.run(["bash", Path(setup.ROOT, ".ci", "run")], capture_output=True, text=True, timeout=60,
                         env=os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"})
    cloned, made, beside = ran.stdout.splitlines()
    folder = cloned.split()[-1]
    assert cloned.startswith("git clone ") and cloned.split()[-2] == str(setup.ROOT)
    assert made == f"make -C {folder} test" and beside == Path(folder).name
    assert ran.returncode == 7, "what the suite says is what CI says"


def test_nothing_that_tests_need_is_outside_of_the_repository():
    outside = re.compile(r"""\.\./shared|(?:parent|parents\[\d\])\s*/\s*["']shared""")
    listed = subprocess.run(["git", "ls-files", "tests", "scripts", "examples_blend", "Makefile", ".ci", "solver",
                             "conjac_addon"], cwd=setup.ROOT, capture_output=True, text=True, check=True).stdout
    paths = [Path(setup.ROOT, line) for line in listed.splitlines() if line != "tests/setup/test_set_up.py"]
    beside = [str(path.relative_to(setup.ROOT)) for path in paths
              if path.suffix in ("", ".py", ".sh") and outside.search(path.read_text(encoding="utf-8"))]
    assert len(paths) > 500 and not beside
