"""The picture that the README opens with can be taken, and is small enough to be loaded with the page."""

from __future__ import annotations

import runpy
import struct
from pathlib import Path

import pytest

from .conftest import CHROMIUM, NO_CHROMIUM, skip_or_fail

DOCS = Path(__file__).parents[2] / "docs"


def test_the_picture_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if CHROMIUM is None:
        skip_or_fail(NO_CHROMIUM)
    code = runpy.run_path(str(DOCS / "picture.py"))
    monkeypatch.setitem(code["main"].__globals__, "PICTURE", tmp_path / "report.png")
    code["main"]()
    size = (tmp_path / "report.png").stat().st_size
    assert capsys.readouterr().out == f"report.png: {size} bytes\n"
    assert size_of(tmp_path / "report.png") == size_of(DOCS / "report.png")


def test_without_chromium_that_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PATH", "")
    code = runpy.run_path(str(DOCS / "picture.py"))
    code["main"]()
    assert capsys.readouterr().out == "Chromium is not installed, so report.png stays as it is\n"


def test_it_is_small() -> None:
    assert (DOCS / "report.png").stat().st_size <= 200_000


def size_of(picture: Path) -> tuple[int, int]:
    """Width and height, which every PNG tells in its first chunk."""
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    return width, height
