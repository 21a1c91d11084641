"""The line at the bottom of Blender's windows: it follows the artist into other workspaces, and leaves none behind."""

from __future__ import annotations

import bpy

#: workspaces that have a line of ours, by session_uid
_shown_in: set[int] = set()


def say(text: str) -> None:
    """Show a sentence in every window."""
    shown = {window.workspace.session_uid for window in bpy.context.window_manager.windows}
    _clear(_shown_in - shown)
    for workspace in bpy.data.workspaces:
        if workspace.session_uid in shown:
            workspace.status_text_set(text)
    _shown_in.update(shown)


def clear() -> None:
    """Give the line back to Blender, in all workspaces that have ours."""
    _clear(set(_shown_in))


def _clear(uids: set[int]) -> None:
    for workspace in bpy.data.workspaces:
        if workspace.session_uid in uids:
            workspace.status_text_set(None)
    _shown_in.difference_update(uids)
