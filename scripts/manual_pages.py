"""Convert the manual to web pages, which are part of the zip: Blender's *Online Manual* opens them without a network.

Supports the Markdown of README.md and docs/: headings, paragraphs, lists, tables, indented code, bold, italics, code,
links and pictures. Standard library, and Pillow for the pictures.
"""

from __future__ import annotations

import html
import io
import re
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INDEX = "index.html"

#: of pictures in the zip: pixels of the longer side, and how WebP keeps them
WIDTH, QUALITY = 1100, 80

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 16px/1.5 sans-serif; max-width: 50em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff; }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; }}
td, th {{ border: 1px solid #ccc; padding: .2em .6em; text-align: left; vertical-align: top; }}
code, pre {{ background: #f2f2f2; }} pre {{ padding: .6em; overflow-x: auto; }} img {{ max-width: 100%; }}
</style></head><body><p><a href="{home}">ConJac for Blender</a></p>
{body}
</body></html>
"""


def write_pages(folder: Path) -> None:
    """Write all pages of the manual and their pictures into a folder; an existing folder is replaced."""
    shutil.rmtree(folder, ignore_errors=True)
    sources = {ROOT / "README.md": Path(INDEX)}
    sources |= {path: _target(path) for path in sorted((ROOT / "docs").rglob("*.md"))}
    pages = {source.resolve(): target for source, target in sources.items()}
    for source, target in sources.items():
        text = source.read_text(encoding="utf-8")
        made = folder / target
        made.parent.mkdir(parents=True, exist_ok=True)
        title = text.partition("\n")[0].lstrip("# ")
        body = "\n".join(_blocks(text, source, pages, folder))
        home = "../" * (len(target.parts) - 1) + INDEX
        made.write_text(PAGE.format(title=html.escape(title), body=body, home=home), encoding="utf-8")


def _target(source: Path) -> Path:
    """Return the path of the HTML page of a file below docs/, relative to the folder of pages."""
    return source.relative_to(ROOT / "docs").with_suffix(".html")


def anchor(heading: str) -> str:
    """Return the anchor of a heading in links, as code hosts derive it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _blocks(text: str, source: Path, pages: dict[Path, Path], folder: Path) -> Iterator[str]:
    """Yield HTML of each paragraph, list, table or block of code."""
    def inline(words: str) -> str:
        return _inline(words, source, pages, folder)

    for block in re.split(r"\n{2,}", text.strip("\n")):
        lines = block.split("\n")
        while lines and lines[0].startswith("#"):
            marks, _, heading = lines.pop(0).partition(" ")
            yield f'<h{len(marks)} id="{anchor(heading)}">{inline(heading)}</h{len(marks)}>'
        if not lines:
            continue
        if lines[0].startswith("    "):
            yield f"<pre>{html.escape(chr(10).join(line[4:] for line in lines))}</pre>"
        elif lines[0].startswith("|"):
            rows = [[inline(cell.strip()) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
                    for line in lines if not re.fullmatch(r"[|\-: ]+", line)]
            yield "<table>" + "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows) \
                + "</table>"
        else:
            yield from _prose(lines, inline)


def _prose(lines: list[str], inline: Callable[[str], str]) -> Iterator[str]:
    """Yield HTML of paragraphs, and of lists that follow them, also without an empty line."""
    items: list[str] = []
    kind, plain = "", []
    for line in [*lines, ""]:
        found = re.match(r"(- |\d+\. )(.*)", line)
        if found:
            kind = "ul" if found[1] == "- " else "ol"
            items.append(found[2])
            continue
        if items and line.startswith("  "):
            items[-1] += " " + line.strip()
            continue
        if plain and items:
            yield f"<p>{inline(' '.join(plain))}</p>"
            plain = []
        if items:
            yield f"<{kind}>{''.join(f'<li>{inline(item)}</li>' for item in items)}</{kind}>"
            items = []
        if line:
            plain.append(line)
    if plain:
        yield f"<p>{inline(' '.join(plain))}</p>"


def _inline(words: str, source: Path, pages: dict[Path, Path], folder: Path) -> str:
    """Return HTML of a line with code, pictures, links, bold and italics."""
    pieces: list[str] = []

    def keep(piece: str) -> str:
        pieces.append(piece)
        return f"\0{len(pieces) - 1}\0"

    words = re.sub(r"`([^`]+)`", lambda found: keep(f"<code>{html.escape(found[1])}</code>"), words)
    words = html.escape(words, quote=False)
    words = re.sub(r"!\[([^\]]*)\]\(([^)]+)\)",
                   lambda found: keep(_picture(found[1], source, found[2], pages, folder)), words)
    words = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", lambda found: _link(found[1], source, found[2], pages), words)
    words = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", words)
    words = re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)", r"<i>\1</i>", words)
    while "\0" in words:
        words = re.sub(r"\0(\d+)\0", lambda found: pieces[int(found[1])], words)
    return words


def _link(words: str, source: Path, target: str, pages: dict[Path, Path]) -> str:
    """Return an HTML link; only its words where the target, such as a source file, is not in the manual."""
    path, mark, anchor = target.partition("#")
    if "://" in target or not path:
        return f'<a href="{target}">{words}</a>'
    page = pages.get((source.parent / path).resolve())
    if page is None:
        return words
    up = "../" * (len(pages[source.resolve()].parts) - 1)
    return f'<a href="{up}{page.as_posix()}{mark}{anchor}">{words}</a>'


@cache
def _small(picture: Path) -> bytes:
    """Return a picture as WebP, at most as wide as pages show it, which takes a fifth of the bytes."""
    from PIL import Image  # only imported where pictures are written

    made = io.BytesIO()
    with Image.open(picture) as image:
        shown = image.convert("RGBA" if image.has_transparency_data else "RGB")
        shown.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
        shown.save(made, "WEBP", quality=QUALITY, method=6)
    return made.getvalue()


def _picture(words: str, source: Path, target: str, pages: dict[Path, Path], folder: Path) -> str:
    """Write a picture as WebP into the folder of pages and return HTML that shows it."""
    picture = (source.parent / target).resolve()
    shown = picture.relative_to(ROOT / "docs").with_suffix(".webp")
    (folder / shown).parent.mkdir(parents=True, exist_ok=True)
    (folder / shown).write_bytes(_small(picture))
    up = "../" * (len(pages[source.resolve()].parts) - 1)
    return f'<img src="{up}{shown.as_posix()}" alt="{html.escape(words)}">'
