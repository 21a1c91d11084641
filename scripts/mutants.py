"""Break the code one line at a time and report the breaks that no test detects: `make mutants`.

    python scripts/mutants.py [WORD …] [--list] [--folder build/mutants] [--seconds 900]

Each mutant of scripts/mutants.toml has a file, a text that occurs in it once, its replacement, and the tests that
should detect it. Mutants run one at a time in a copy of the tree. The tests run on the unbroken code first, so that a
failure is due to the mutant. WORDs select mutants by name, file and test. Standard library only.

Exit codes: 0 all are detected, 1 some survive, 2 a text does not occur exactly once or a test fails on unbroken code.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".toml")
NO_TESTS = 5  #: pytest's exit code where none was found


@dataclass(frozen=True)
class Mutant:
    """A change of the code that a test must detect."""

    name: str
    file: str  #: from the tree's root
    old: str  #: text that occurs in the file once
    new: str
    tests: tuple[str, ...]  #: files, nodes, or options of pytest


def mutants(path: Path = LIST) -> list[Mutant]:
    """Return the mutants of a list, in order. Raises SystemExit where two have the same name."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]
    found = [Mutant(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries]
    names = [mutant.name for mutant in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SystemExit(f"mutants: named twice: {', '.join(twice)}")
    return found


def broken(mutant: Mutant, root: Path) -> str:
    """Return the text of a mutant's file with its change. Raises ValueError unless the old text occurs exactly once."""
    path = root / mutant.file
    if not path.is_file():
        raise ValueError(f'"{mutant.name}": there is no {mutant.file}')
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise ValueError(f'"{mutant.name}": its text stands {text.count(mutant.old)} times in {mutant.file}, not once')
    return text.replace(mutant.old, mutant.new)


def copy_tree(folder: Path) -> None:
    """Make `folder` a copy of the working tree, without files that git does not track."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, check=True).stdout.decode().split("\0")
    tracked = {name for name in listed if name and (ROOT / name).is_file()}
    folder.mkdir(parents=True, exist_ok=True)
    for name in tracked:
        source, target = ROOT / name, folder / name
        content = source.read_bytes()
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    for path in [*folder.rglob("*.py"), *folder.rglob("*.toml")]:
        if ".venv" not in path.parts and path.relative_to(folder).as_posix() not in tracked:
            path.unlink()
    venv = folder / ".venv"
    if not venv.exists() and (ROOT / ".venv").exists():
        venv.symlink_to((ROOT / ".venv").resolve())


def run(tests: tuple[str, ...], folder: Path, seconds: float) -> tuple[int | None, str]:
    """Run tests in a folder and return pytest's exit code, None after `seconds`, and the end of its output."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=line", "-p", "no:cacheprovider", *tests]
    # one cache for all, separate from the user's. Bytecode detects changes by whole seconds alone
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder.parent / "kernels"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, f"took longer than {seconds:g} seconds"
    return ran.returncode, "\n".join((ran.stdout + ran.stderr).strip().splitlines()[-6:])


def judge(chosen: list[Mutant], folder: Path, seconds: float) -> int:
    """Run mutants in a copy of the tree, print a line for each, and return the exit code of the script."""
    wrong = []
    for tests in dict.fromkeys(mutant.tests for mutant in chosen):
        code, output = run(tests, folder, seconds)
        if code != 0:
            wrong.append(tests)
            print(f"BROKEN    {' '.join(tests)} fails where nothing was changed\n{output}", flush=True)
    survivors = 0
    for mutant in chosen:
        if mutant.tests in wrong:
            continue
        path = folder / mutant.file
        original, times = path.read_bytes(), path.stat()
        path.write_text(broken(mutant, folder), encoding="utf-8")
        try:
            code, output = run(mutant.tests, folder, seconds)
        finally:
            path.write_bytes(original)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        survivors += code == 0
        if code == NO_TESTS:
            wrong.append(mutant.tests)
        verdict = {0: "SURVIVES", NO_TESTS: "BROKEN"}.get(code, "caught")  # type: ignore[arg-type]
        print(f"{verdict:9} {mutant.name}   [{mutant.file}]", flush=True)
    tried = sum(mutant.tests not in wrong for mutant in chosen)
    print(f"{tried - survivors} of {tried} are caught, {survivors} survive, {len(chosen) - tried} could not be tried")
    return 2 if wrong else 1 if survivors else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", nargs="*", help="of names, files or tests; all where left out")
    parser.add_argument("--list", action="store_true", help="say which there are, and run nothing")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants" / "tree", help="of the copy")
    parser.add_argument("--seconds", type=float, default=900.0, help="for the tests of one, at most")
    arguments = parser.parse_args()
    chosen = [mutant for mutant in mutants() if not arguments.words or any(
        word in f"{mutant.name} {mutant.file} {' '.join(mutant.tests)}" for word in arguments.words)]
    try:
        for mutant in chosen:
            broken(mutant, ROOT)
    except ValueError as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    if arguments.list:
        print("\n".join(f"{mutant.name}   [{mutant.file}]" for mutant in chosen))
        return 0
    copy_tree(arguments.folder)
    return judge(chosen, arguments.folder, arguments.seconds)


if __name__ == "__main__":
    sys.exit(main())
