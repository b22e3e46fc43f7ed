"""Fixtures that build worlds: a board played by a short program, paper without images."""

from collections.abc import Callable, Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from device.tests.world.bench import Worlds, rests
from recount_world.paper import Sheet
from recount_world.script import Script
from recount_world.scripted_board import Program, ScriptedBoard
from recount_world.world import World


@pytest.fixture
def a_world() -> Generator[Worlds, None, None]:
    """Return a builder of worlds that are closed after the test."""
    worlds: list[World] = []

    def build(program: Program = rests, sheets: tuple[Sheet, ...] = (), **settings: Any) -> World:
        script = replace(Script(operator="none"), sheets=sheets, **settings)
        world = World(script, ScriptedBoard(program))
        worlds.append(world)
        return world

    yield build
    for world in worlds:
        world.close()


@pytest.fixture
def page_image(tmp_path: Path) -> Callable[..., Path]:
    """Return a maker of page images: grey, brighter towards the bottom."""

    def make(name: str, bottom: int = 200, rows: int = 220, columns: int = 170) -> Path:
        page = np.linspace(100, bottom, rows).astype(np.uint8)[:, None].repeat(columns, axis=1)
        path = tmp_path / name
        cv2.imwrite(str(path), page)
        return path

    return make
