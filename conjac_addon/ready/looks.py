"""Materials to look at, one for each preset: color, how glossy and how clear it is. They move nothing."""

from __future__ import annotations

from typing import NamedTuple

import bpy


class Look(NamedTuple):
    """Inputs of a Principled BSDF."""

    color: tuple[float, float, float]  #: scene linear
    roughness: float
    transmission: float = 0.0
    metallic: float = 0.0


#: preset, by the name of its file → what it looks like
LOOKS = {
    "Cork": Look((0.42, 0.22, 0.10), 0.9),
    "Dough": Look((0.80, 0.66, 0.42), 0.7),
    "Fat": Look((0.85, 0.68, 0.30), 0.4),
    "Foam": Look((0.75, 0.75, 0.30), 0.95),
    "Gelatin": Look((0.70, 0.05, 0.03), 0.1, transmission=0.8),
    "Latex": Look((0.75, 0.62, 0.40), 0.3),
    "Muscle_Relaxed": Look((0.45, 0.06, 0.05), 0.5),
    "Rubber": Look((0.03, 0.03, 0.03), 0.6),
    "Silicone": Look((0.60, 0.70, 0.75), 0.35, transmission=0.3),
    "Skin": Look((0.70, 0.38, 0.26), 0.5),
    "Cotton": Look((0.80, 0.78, 0.72), 0.9),
    "Denim": Look((0.05, 0.10, 0.25), 0.85),
    "Elastic": Look((0.02, 0.02, 0.05), 0.6),
    "Felt": Look((0.10, 0.35, 0.15), 1.0),
    "Leather": Look((0.20, 0.08, 0.03), 0.45),
    "Silk": Look((0.60, 0.08, 0.20), 0.25),
    "Wool": Look((0.35, 0.32, 0.30), 0.95),
    "Rope": Look((0.55, 0.42, 0.22), 0.9),
    "Steel_Cable": Look((0.55, 0.56, 0.58), 0.3, metallic=1.0),
}


def material(preset: str) -> bpy.types.Material:
    """Return the material of a preset: this file's own one, or a new one."""
    name = f"ConJac {preset.replace('_', ' ')}"
    for found in bpy.data.materials:
        if found.name == name and found.library is None:
            return found
    look, made = LOOKS[preset], bpy.data.materials.new(name)
    if made.node_tree is None:  # before Blender 5.0
        made.use_nodes = True
    assert made.node_tree is not None
    inputs = next(node for node in made.node_tree.nodes if node.type == "BSDF_PRINCIPLED").inputs
    for socket, value in (("Base Color", (*look.color, 1.0)), ("Roughness", look.roughness),
                          ("Transmission Weight", look.transmission), ("Metallic", look.metallic)):
        inputs[socket].default_value = value  # type: ignore[attr-defined]
    made.diffuse_color, made.roughness, made.metallic = (*look.color, 1.0), look.roughness, look.metallic
    return made
