"""Generated text inside handwritten pages, between two marks."""

from __future__ import annotations

from pathlib import Path


def marks(what: str, script: str) -> tuple[str, str]:
    """Return the marks before and after a generated text. what: its content. script: command that writes it."""
    return f"<!-- {what}: written by scripts/{script} -->", f"<!-- end of {what} -->"


def put(page: Path, between: tuple[str, str], text: str) -> None:
    """Write a text between two marks in a page. Raises ValueError where the page lacks them."""
    begin, end = between
    whole = page.read_text(encoding="utf-8")
    if begin not in whole or end not in whole:
        raise ValueError(f"{page.name} lacks {begin} or {end}")
    before, _, rest = whole.partition(begin)
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.partition(end)[2]}", encoding="utf-8")


def read(page: Path, between: tuple[str, str]) -> str:
    """Return the text between two marks in a page."""
    return page.read_text(encoding="utf-8").partition(between[0])[2].partition(between[1])[0].strip()
