"""The files around the package agree with it, and what publishes it runs no code that can change under its name."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import bytepair as bp
from tests.conftest import ROOT


def test_the_citation_names_this_version() -> None:
    version = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert version
    assert version[1] == bp.__version__


def test_actions_are_pinned_by_hash_with_their_version() -> None:
    used = []
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        used += re.findall(r"uses: (.*)", workflow.read_text("utf-8"))
    assert len(used) > 5
    for action in used:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_an_index_shows_the_readme_with_whole_addresses(tmp_path: Path) -> None:
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    address = "https://example.org/someone/bytepair"
    subprocess.run([sys.executable, ROOT / ".github/with-address", address, "v1"], cwd=tmp_path, check=True)
    links = re.findall(r"""(?:\]\(|src="|srcset=")([^)"#]+)""", (tmp_path / "README.md").read_text("utf-8"))
    assert len(links) > 20
    for link in links:
        assert link.startswith("https://"), link
        if link.startswith(address):
            assert (ROOT / re.sub(".*/(?:raw|blob)/v1/", "", link)).exists(), link
    assert any("/raw/v1/docs/pictures/" in link for link in links)
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["urls"]["Source"] == address


def test_debug_information_goes_into_a_file_of_its_own(tmp_path: Path) -> None:
    if shutil.which("objcopy") is None:
        pytest.skip("no objcopy is installed")
    extension = Path(bp._core.__file__)
    wheel, name = tmp_path / "a-1-linux.whl", f"bytepair/{extension.name}"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("bytepair/a.py", "a")
        archive.write(extension, name)
        archive.writestr(
            "a-1.dist-info/RECORD", f"bytepair/a.py,sha256=x,1\n{name},sha256=x,1\na-1.dist-info/RECORD,,\n"
        )
    subprocess.run([sys.executable, ROOT / ".github/split-debug", tmp_path, tmp_path / "debug"], check=True)
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        stripped = archive.read(name)
        digest = base64.urlsafe_b64encode(hashlib.sha256(stripped).digest()).rstrip(b"=").decode()
        lines = archive.read("a-1.dist-info/RECORD").decode().splitlines()
    assert lines == ["bytepair/a.py,sha256=x,1", f"{name},sha256={digest},{len(stripped)}", "a-1.dist-info/RECORD,,"]
    assert b"a-1-linux.debug" in stripped
    assert (tmp_path / "debug" / "a-1-linux.debug").stat().st_size > 1000
