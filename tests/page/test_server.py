"""The page in gradio, without a browser or a network."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gradio", reason="the page needs gradio: pip install 'anls-metric[app]'")

from anls_metric.page import limits, server, uploads
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The page, served in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("uploads")))
        page = server.build()
        server.launch(page, prevent_thread_lock=True, quiet=True, server_name="127.0.0.1")
        yield page
        page.close()


def test_only_the_last_sessions_are_remembered(page: Any) -> None:
    for number in range(limits.MOST_SESSIONS + 5):
        body = json.dumps({"data": ["a", ["a"]], "session_hash": str(number)}).encode()
        kind = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{page.local_url}gradio_api/run/explain_answer", data=body, headers=kind)
        assert json.load(urllib.request.urlopen(request, timeout=60))["data"][0]["score"] == 1
    remembered = set(page.state_holder.session_data)
    assert str(limits.MOST_SESSIONS + 4) in remembered
    assert len(remembered) <= limits.MOST_SESSIONS


def test_each_page_has_a_folder_for_uploads_that_goes_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "others"))
    page = server.build()
    folder = Path(page.uploads.name)
    assert folder.parent == tmp_path / "others"
    assert uploads.get_folder() == str(folder)
    page.uploads.cleanup()
    assert not folder.exists()


def test_installed_gradio_is_in_the_allowed_range() -> None:
    """The step `bounds` runs these tests on the lowest gradio, the step `whole` on the newest."""
    installed = tuple(map(int, version("gradio").split(".")[:2]))
    bounds = re.search(r'"gradio>=([\d.]+),<([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert bounds
    low, high = (tuple(map(int, bound.split("."))) for bound in bounds.groups())
    assert low <= installed < high
    assert f"\ngradio<{bounds[2]},>={bounds[1]}\n" in (ROOT / "requirements.txt").read_text(encoding="utf-8")
    space = re.search(r"^sdk_version: (\d+)\.(\d+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert space
    assert low <= tuple(map(int, space.groups())) < high
