"""Changes of the scene while it is read, which can be put back in between."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class TakenUp:
    """Base of context managers that change the scene: `with` applies the change and restores the scene at the end."""

    def __enter__(self) -> Self:
        self.take_up()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.put_back()

    def take_up(self) -> None:
        """Change the scene, from now on."""
        raise NotImplementedError

    def put_back(self) -> None:
        """Leave the scene as the artist has it."""
        raise NotImplementedError
