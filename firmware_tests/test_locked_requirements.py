"""What the guides have people install: every file by its hash, in the releases that are tested here."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

REPOSITORY = Path(__file__).resolve().parent.parent
ON_THE_DEVICE = ("device", "firmware")
"""The extras of the technician's guide."""


def locked(name: str) -> dict[str, set[Requirement]]:
    """Return the requirements of a locked file by their names; a name has several for several Pythons."""
    found: dict[str, set[Requirement]] = {}
    text = (REPOSITORY / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    for entry in re.split(r"\n(?=\S)", text.strip()):
        requirement = Requirement(entry.split("\\\n")[0].strip())
        assert "--hash=sha256:" in entry, f"{requirement} has no hash"
        found.setdefault(requirement.name, set()).add(requirement)
    return found


def asked_for_on_the_device() -> list[Requirement]:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for extra in ON_THE_DEVICE for line in project["optional-dependencies"][extra]]
    return [Requirement(line) for line in (*project["dependencies"], *extras)]


def test_the_devices_locked_file_holds_what_its_extras_ask_for() -> None:
    held = locked("raspberry-pi")
    for asked in asked_for_on_the_device():
        assert asked.name in held
        for requirement in held[asked.name]:
            (pinned,) = requirement.specifier
            assert pinned.version in asked.specifier


def test_the_device_installs_the_releases_that_are_tested() -> None:
    tested = locked("everything")
    for name, requirements in locked("raspberry-pi").items():
        releases = {requirement.specifier for requirement in requirements}
        assert releases == {requirement.specifier for requirement in tested[name]}


def test_no_guide_installs_anything_without_its_hash() -> None:
    pages = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *(REPOSITORY / "docs").rglob("*.md")]
    told = [line.strip() for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    installs = [line for line in told if re.search(r"\bpip install\b", line)]
    assert installs
    for line in installs:
        # Our own package is built from the copy at hand and brings nothing with it.
        assert "--require-hashes -r " in line or "--no-deps --no-build-isolation ." in line, line
