"""The page in gradio, without a browser or a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gradio", reason="the page needs gradio: pip install 'anls-metric[app]'")

from gradio.routes import App
from starlette.testclient import TestClient

from anls_metric.page import server


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


def test_each_page_has_a_folder_for_uploads_that_goes_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "others"))
    page = server.build()
    folder = Path(page.uploads.name)
    assert folder.parent == tmp_path / "others"
    assert server._uploads() == str(folder)
    page.uploads.cleanup()
    assert not folder.exists()
