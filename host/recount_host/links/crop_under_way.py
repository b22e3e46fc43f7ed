"""A crop of which parts have come; it outlives their connection, so that only the rest is sent."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class CropUnderWay:
    """The parts of one crop so far. Its length is bounded by the message that names it."""

    n: int
    total: int
    sha256: bytes
    received: bytearray = field(default_factory=bytearray)

    def fits(self, n: int, total: int, sha256: bytes, offset: int, length: int) -> bool:
        """Return whether a part of so many bytes goes on where this crop ends."""
        same = (self.n, self.total, self.sha256) == (n, total, sha256)
        return same and offset == len(self.received) <= self.total - length


@dataclass(slots=True)
class CropPlace:
    """Where one device's crop under way lies: at most one, so memory is bounded."""

    crop: CropUnderWay | None = None

    def for_next_connection(self) -> "CropPlace":
        """Return a place of its own with what has come so far.

        The connection before may still be thought alive, and take parts in its thread: they do not come here.
        """
        crop = self.crop
        if crop is None:
            return CropPlace()
        return CropPlace(CropUnderWay(crop.n, crop.total, crop.sha256, bytearray(crop.received)))

    def offset_of(self, n: int) -> int:
        """Return how much of the crop of record `n` is here."""
        return len(self.crop.received) if self.crop is not None and self.crop.n == n else 0
