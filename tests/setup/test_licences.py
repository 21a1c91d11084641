"""LICENSES/README.md names what is compiled into the bundled wheels, compared with the files of those installed here,
which are the wheels of the Linux zips unless scripts/wheels.py chooses other versions."""

import importlib.metadata
import re
import sys
from pathlib import Path

import pytest

from scripts import wheels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the parts were looked for in the wheels for Linux")
LISTED = (wheels.ROOT / "LICENSES" / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"(?m)^\| ([\w-]+)(?: \([^)]*\))? \| ([^|]+?) \| `([^`]+)` \| ([^|]+) \|$", LISTED)


def compiled(name):
    """Return the compiled files of an installed distribution."""
    files = importlib.metadata.distribution(name).files or ()
    return [Path(str(file.locate())) for file in files if ".so" in file.name]


@pytest.fixture(scope="module")
def binaries():
    """Return the binaries of each distribution: the names of its compiled files, and all their bytes."""
    paths = {name: compiled(name) for name in {row[0] for row in ROWS}}
    return {name: ({path.name for path in files}, b"".join(path.read_bytes() for path in files))
            for name, files in paths.items()}


def test_rows_are_of_what_is_bundled():
    names = {wheel.name for wheel in wheels.locked("3.11", "linux-x64")}
    assert len(ROWS) > 40 and {row[0] for row in ROWS} <= names


@pytest.mark.parametrize("name, part, mark", [row[:3] for row in ROWS])
def test_a_part_is_in_the_wheel_that_is_listed_with_it(binaries, name, part, mark):
    files, content = binaries[name]
    assert any(file.startswith(mark) for file in files) or mark.encode() in content


def test_every_library_beside_a_wheel_is_listed(binaries):
    for name in binaries:
        beside = [path.name for path in compiled(name) if path.parent.name.endswith(".libs")]
        libraries = {file.partition("-")[0].partition(".")[0] for file in beside}
        listed = {row[2] for row in ROWS if row[0] == name}
        assert libraries <= listed, (name, libraries - listed)


def test_what_is_listed_as_absent_is_absent(binaries):
    cvxopt, everything = binaries["cvxopt"][1], b"".join(content for _, content in binaries.values())
    # a function's name ends where a message goes on
    assert b"METIS_NodeND nested" in cvxopt and not re.search(rb"\0METIS_\w+\0", cvxopt)
    for mangled in (b"3igl8copyleft", b"3igl4cgal", b"3igl8triangle", b"3igl7tetgen", b"4CGAL", b"mpfr_"):
        assert mangled not in everything
    assert not any("metis" in file or "mpfr" in file for files, _ in binaries.values() for file in files)
