"""What is drawn as SVG: a map of a table, the strip of a row."""

from __future__ import annotations

import os
from abc import abstractmethod

from lakelens.display import Displayable
from lakelens.whole import write_whole


class Drawing(Displayable):
    """Something with a drawing, which `save` writes to a file."""

    @abstractmethod
    def to_svg(self) -> str:
        """The drawing as SVG: a document of its own, light and dark, in which nothing can run."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing as an SVG file; one that is there is overwritten.

        Parameters
        ----------
        path
            The file to write.
        """
        write_whole(path, self.to_svg().encode())
