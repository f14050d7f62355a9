"""A project as a user has it: the wheel of this tree in an environment of its own, with what the wheel asks for."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]


def build_wheel(folder: Path) -> Path:
    """The wheel of this tree."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def make_environment(folder: Path, wheel: Path, *also: str) -> Path:
    """A virtual environment with the wheel, the distributions it declares and those of `also`. Out: its bin folder.

    The dependencies are linked from the environment of the tests, so that nothing is fetched; what the wheel does not
    declare is not there.
    """
    uv = Path(sys.executable).with_name("uv")
    base = Path(sysconfig.get_config_var("BINDIR")) / f"python{sys.version_info.major}.{sys.version_info.minor}"
    subprocess.run([uv, "venv", "--quiet", "--offline", "--python", base, folder], check=True)
    install = [uv, "pip", "install", "--quiet", "--offline", "--no-deps", "--python", folder / "bin" / "python", wheel]
    subprocess.run(install, check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (metadata,) = site.glob("tokentrail-*.dist-info")
    asked = [line.removeprefix("Requires-Dist: ") for line in (metadata / "METADATA").read_text().splitlines()
             if line.startswith("Requires-Dist: ")]  # fmt: skip
    for name in closure([*asked, *also]):
        link(name, site)
    return folder / "bin"


def closure(requirements: list[str]) -> list[str]:
    """The names of all distributions that these requirements bring, as they are installed here."""
    found: dict[tuple[str, str], None] = {}
    todo = [(Requirement(text), "") for text in requirements]
    while todo:
        requirement, extra = todo.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        installed = distribution(requirement.name)
        assert requirement.specifier.contains(installed.version), f"{requirement} is not met by {installed.version}"
        for wanted in ("", *requirement.extras):
            if (requirement.name, wanted) not in found:
                found[requirement.name, wanted] = None
                todo += [(Requirement(text), wanted) for text in installed.requires or ()]
    return list(dict.fromkeys(name for name, _ in found))


def link(name: str, site: Path) -> None:
    """Make the distribution's packages and metadata visible in another environment."""
    for top in {file.parts[0] for file in distribution(name).files or () if file.parts[0] not in {"..", "__pycache__"}}:
        there = site / top
        if not there.exists():
            there.symlink_to(Path(str(distribution(name).locate_file(top))))
