"""Test files as pytest compiles them, on disk before workers start: each worker of a new clone would rewrite the
assertions of all of them at the same time, which takes twenty seconds of processor."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from _pytest.assertion import rewrite


def write(config: pytest.Config, places: Iterable[Path]) -> list[Path]:
    """Return the files with tests in `places`, folders or files, that were compiled because they are newer than what
    is on disk."""
    written = []
    for path in _test_files(places):
        compiled = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
        if compiled.exists() and compiled.stat().st_mtime > path.stat().st_mtime:
            continue
        compiled.parent.mkdir(exist_ok=True)
        # pytest has no public function for this; another pytest that has not these either would compile them by itself
        source_hash, code = rewrite._rewrite_test(path, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, source_hash, compiled)
        written.append(path)
    return written


def _test_files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        yield from [place] if place.is_file() else sorted(place.rglob("test_*.py"))
