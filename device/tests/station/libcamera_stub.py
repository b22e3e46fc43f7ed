"""Stand-ins for what picamera2 needs of a Raspberry Pi's system, just enough to import its real classes.

libcamera and pykms come with Raspberry Pi OS only, prctl and pidng need a compiler. picamera2 touches some
thirty of their names while it is imported: each becomes a class of its own. Nothing of them is ever run.
"""

import importlib
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

STUBBED = (
    "libcamera",
    "libcamera._libcamera",
    "libcamera.controls",
    "libcamera.controls.draft",
    "libcamera.properties",
    "pykms",
    "prctl",
    "pidng",
    "pidng.camdefs",
    "pidng.core",
)


class _Name(type):
    """A class whose every attribute is another such class."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _Name(name, (_Anything,), {})
        setattr(cls, name, value)
        return value


class _Anything(metaclass=_Name):
    """Made with any arguments, does nothing."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass


class _StubModule(ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = _Name(name, (_Anything,), {})
        setattr(self, name, value)
        return value


@contextmanager
def importable_picamera2() -> Generator[Any]:
    """Give the real module picamera2, imported over stubs; both are gone again afterwards."""
    before = dict(sys.modules)
    modules = {name: _StubModule(name) for name in STUBBED}
    for name, module in modules.items():
        module.__path__ = []
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(modules[parent], child, module)
    sys.modules.update(modules)
    try:
        yield importlib.import_module("picamera2")
    finally:
        for name in set(sys.modules) - set(before):
            del sys.modules[name]
