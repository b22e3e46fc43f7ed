"""What hides ink: dabs of correction fluid, worn spots, glare, with soft or hard edges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Grey = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Dab:
    """A bright patch. `half_width` and `half_height` are where it has a third of its strength."""

    strength: float
    """How much of what lies under it is gone in its middle: 0 to 1."""
    half_width: float
    half_height: float
    hardness: float = 1.0
    """1 is the soft edge of a light's reflection, 8 that of fluid or a sticker."""
    grey: float = 255.0

    def on(self, picture: Grey, x: float, y: float) -> None:
        """Lay it onto the picture, in place, round (x, y)."""
        reach = 3.2 if self.hardness < 2 else 2.0
        x0, x1 = (int(np.clip(x + way * reach * self.half_width, 0, picture.shape[1])) for way in (-1, 1))
        y0, y1 = (int(np.clip(y + way * reach * self.half_height, 0, picture.shape[0])) for way in (-1, 1))
        rows, columns = np.mgrid[y0:y1, x0:x1].astype(np.float32)
        distance = ((columns - x) / self.half_width) ** 2 + ((rows - y) / self.half_height) ** 2
        cover = self.strength * np.exp(-(distance**self.hardness))
        ground = picture[y0:y1, x0:x1]
        ground[:] = np.round(ground * (1 - cover) + self.grey * cover).astype(np.uint8)
