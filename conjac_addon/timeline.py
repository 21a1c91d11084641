"""The timeline in frames of animation, which Time Stretching plays faster or slower, and steps in its frames."""

import math

import bpy


def frame_range(settings: bpy.types.PropertyGroup, scene: bpy.types.Scene) -> tuple[int, int]:
    """Return first and last frame of the bake, as the artist set them: the last may come first. Frames are those of
    keyframes, which Time Stretching plays slower or faster."""
    if not settings.use_scene_range:
        return settings.frame_start, settings.frame_end
    stretch = time_stretch(scene)
    return math.floor(scene.frame_start * stretch + 1e-6), math.ceil(scene.frame_end * stretch - 1e-6)


def frame_rate(scene: bpy.types.Scene) -> float:
    """Return the frames of a second."""
    return scene.render.fps / scene.render.fps_base


def time_stretch(scene: bpy.types.Scene) -> float:
    """Return the number of frames of animation per frame of the timeline: 1 without Time Stretching."""
    return scene.render.frame_map_old / scene.render.frame_map_new


def go_to(scene: bpy.types.Scene, frame: int, subframe: float = 0.0) -> None:
    """Put the timeline where this frame of animation is seen; `subframe` in [0, 1)."""
    stretch = time_stretch(scene)
    if stretch != 1.0:
        whole = math.floor((frame + subframe) / stretch + 1e-6)
        frame, subframe = whole, max((frame + subframe) / stretch - whole, 0.0)
    scene.frame_set(frame, subframe=subframe)


def present_frame(scene: bpy.types.Scene) -> int:
    """Return the whole frame of the timeline, rounded down."""
    return math.floor((scene.frame_current + scene.frame_subframe) * time_stretch(scene) + 1e-6)


def present_subframe(scene: bpy.types.Scene) -> float:
    """Return the fraction of a frame after that, in [0, 1); 0 if Blender shows no subframes."""
    place = (scene.frame_current + scene.frame_subframe) * time_stretch(scene)
    return max(place - present_frame(scene), 0.0) if scene.show_subframe else 0.0


def whole_steps(step: float, fps: float) -> float:
    """Return the step [s], a whole fraction of a frame where it was meant to be one: Blender keeps 0.01 as
    0.0099999998."""
    steps = 1.0 / (fps * step)
    whole = round(steps)
    return 1.0 / (fps * whole) if whole and abs(steps - whole) < 1.0e-5 * steps else step
