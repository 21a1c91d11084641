"""A few frames of a scene, rendered and laid out in one picture."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np

COMMON = 160  #: of 256 colours, those for what there is much of


def render(scene: bpy.types.Scene, frames: list[int], path: Path, columns: int = 4, samples: int | None = None) -> None:
    """Renders `frames` with the scene's camera into one PNG, `columns` to a row, each with its frame number.

    Cycles on the CPU: it needs no display and no GPU. samples: rays a pixel; the scene's own where left out.
    """
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    if samples is not None:
        scene.cycles.samples = samples
    stamp_frame_only(scene)
    scene.render.image_settings.file_format = "PNG"
    scene.render.image_settings.color_mode = "RGB"
    with tempfile.TemporaryDirectory(prefix="conjac-sheet-") as folder:
        tiles = []
        for frame in frames:
            scene.frame_set(frame)
            scene.render.filepath = str(Path(folder) / f"{frame}.png")
            print(f"rendering frame {frame}", flush=True)
            with silence():
                bpy.ops.render.render(write_still=True)
            tiles.append(pixels(Path(scene.render.filepath)))
    save(sheet(tiles, columns), path)


@contextmanager
def silence() -> Iterator[None]:
    """Inside, nothing goes to standard output: Cycles writes a line for every sample, past Python's sys.stdout."""
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def stamp_frame_only(scene: bpy.types.Scene) -> None:
    """Has Blender write the frame number, and nothing else, into each picture."""
    for name in (p.identifier for p in scene.render.bl_rna.properties if p.identifier.startswith("use_stamp")):
        setattr(scene.render, name, name in ("use_stamp", "use_stamp_frame", "use_stamp_labels"))
    scene.render.stamp_font_size = 14
    # pale letters on a dark strip: they read on any picture
    scene.render.stamp_foreground = (1.0, 1.0, 1.0, 1.0)
    scene.render.stamp_background = (0.0, 0.0, 0.0, 0.6)


def pixels(path: Path) -> np.ndarray:
    """(height, width, 4) of a picture, its first row at the bottom, as stored."""
    image = bpy.data.images.load(str(path))
    width, height = image.size
    flat = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(flat)
    bpy.data.images.remove(image)
    return flat.reshape(height, width, 4)


def sheet(tiles: list[np.ndarray], columns: int, gap: int = 4) -> np.ndarray:
    """The tiles in reading order on white, rows from the top; (height, width, 4), first row at the bottom."""
    height, width, _ = tiles[0].shape
    columns = min(columns, len(tiles))
    rows = -(-len(tiles) // columns)
    whole = np.ones((rows * (height + gap) - gap, columns * (width + gap) - gap, 4), np.float32)
    for i, tile in enumerate(tiles):
        bottom = (rows - 1 - i // columns) * (height + gap)
        left = i % columns * (width + gap)
        whole[bottom : bottom + height, left : left + width] = tile
    return whole


def save(picture: np.ndarray, path: Path) -> None:
    """Writes a picture as PNG."""
    height, width, _ = picture.shape
    image = bpy.data.images.new(path.stem, width, height, alpha=True)
    image.pixels.foreach_set(picture.astype(np.float32).ravel())
    image.filepath_raw, image.file_format = str(path), "PNG"
    image.save()
    bpy.data.images.remove(image)


def fewer_colours(picture: Path, path: Path) -> None:
    """A copy in 256 colours, a third of the size: for pictures that are committed."""
    from PIL import Image  # of matplotlib; Blender alone does not need it

    path.parent.mkdir(exist_ok=True)
    whole = Image.open(picture).convert("RGB")
    # most colours go to what there is much of; the others keep a small red face from being painted as its brown hide
    common = whole.quantize(COMMON, Image.Quantize.MEDIANCUT).getpalette()[: 3 * COMMON]
    rare = whole.quantize(256 - COMMON, Image.Quantize.MAXCOVERAGE).getpalette()[: 3 * (256 - COMMON)]
    palette = Image.new("P", (1, 1))
    palette.putpalette(common + rare)
    whole.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).save(path, optimize=True)
