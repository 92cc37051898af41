"""The page in gradio, without a browser or a network."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gradio", reason="the page needs gradio: pip install 'anls-metric[app]'")

from gradio.routes import App
from starlette.testclient import TestClient

from anls_metric.page import limits, server, uploads
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("uploads")))
        yield server.build()


def test_what_a_program_asked_is_not_remembered(page: Any) -> None:
    client = TestClient(App.create_app(page))
    for said in ("a", None):
        body = {"data": [said, ["a" * 1000]], "session_hash": "mine"}
        assert client.post("/gradio_api/run/explain_answer", json=body).status_code == (200 if said else 500)
        assert "mine" not in page.state_holder.session_data


def test_what_a_visitor_was_shown_is_not_remembered(page: Any) -> None:
    client = TestClient(App.create_app(page))
    (shown,) = (
        one for one in page.fns.values() if one.fn and one.fn.__name__ == "_shown_answer" and len(one.inputs) > 2
    )
    body = {"data": ["a", "a", "standard", 0.5, True], "session_hash": "mine", "fn_index": shown._id}
    assert client.post("/gradio_api/run/predict", json=body).status_code == 200
    assert "mine" not in page.state_holder.session_data


def test_a_request_of_many_values_is_refused_where_many_wait(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client = TestClient(App.create_app(page), raise_server_exceptions=False)
    many, few = ({"data": ["a", ["b"] * count]} for count in (limits.MANY_VALUES, 1))
    assert client.post("/gradio_api/run/explain_answer", json=many).status_code == 200
    monkeypatch.setattr(page, "_waiting", limits.MOST_WAITING)
    answer = client.post("/gradio_api/run/explain_answer", json=many)
    assert answer.json()["error"] == limits.BUSY
    assert client.post("/gradio_api/run/explain_answer", json=few).status_code == 200
    assert page._waiting == limits.MOST_WAITING


def test_each_page_has_a_folder_for_uploads_that_goes_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "others"))
    page = server.build()
    folder = Path(page.uploads.name)
    assert folder.parent == tmp_path / "others"
    assert uploads.folder() == str(folder)
    page.uploads.cleanup()
    assert not folder.exists()


def test_what_is_installed_is_what_the_page_says_it_was_tested_with() -> None:
    installed = version("gradio").rpartition(".")[0]
    following = f"{installed.partition('.')[0]}.{int(installed.partition('.')[2]) + 1}"
    assert f'"gradio>={installed},<{following}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"\ngradio<{following},>={installed}\n" in (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert f"sdk_version: {installed}." in (ROOT / "README.md").read_text(encoding="utf-8")
