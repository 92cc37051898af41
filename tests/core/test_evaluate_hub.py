"""The metric from the Hub: evaluate's own code path with a server on this machine, and then offline."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import LIGHT, ROOT

pytest.importorskip("evaluate")

PROGRAM = f"""{LIGHT}
import evaluate
for arguments in ((), ("anls_star",)):
    metric = evaluate.load("someone/anls", *arguments)
    print(metric.compute(predictions=["CocaCola"], references=[["Coca Cola", "Coca Cola Company"]]))
    print(type(metric).__module__.split(".")[2])
"""
EXPECTED = """{'anls': 0.8888888888888888}
someone--anls
{'anls_star': 0.8888888888888888}
someone--anls
"""


def test_evaluate_load_reads_one_file_from_the_hub_then_the_cache(
    tmp_path: Path, run_python: Callable[..., Any]
) -> None:
    paths: list[str] = []

    class Hub(SimpleHTTPRequestHandler):
        """Serves anls.py at the path of a Space on the Hub. There is no release tag, only main."""

        def translate_path(self, path: str) -> str:
            paths.append(path)
            return str(ROOT / "anls.py") if path == "/spaces/someone/anls/resolve/main/anls.py" else "/nowhere"

        def log_message(self, *args: Any) -> None:
            pass

    environment = {"PYTHONPATH": str(ROOT), "HF_HOME": str(tmp_path / "cache"), "HF_UPDATE_DOWNLOAD_COUNTS": "0"}
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        environment["HF_ENDPOINT"] = f"http://127.0.0.1:{server.server_port}"
        first = run_python(PROGRAM, tmp_path, **environment)
        server.shutdown()
    assert first.stdout == EXPECTED, first.stderr
    assert {path.rpartition("/")[2] for path in paths if path.startswith("/spaces/")} == {"anls.py"}
    again = run_python(PROGRAM, tmp_path, **environment)
    assert again.stdout == EXPECTED, again.stderr
    assert "cached version" in again.stderr


@pytest.mark.thorough
def test_evaluate_load_says_how_to_install_missing_rapidfuzz(tmp_path: Path, run_python: Callable[..., Any]) -> None:
    program = f"""{LIGHT}
import sys, evaluate
sys.modules["rapidfuzz"] = None
evaluate.load({str(ROOT / "anls.py")!r})
"""
    done = run_python(program, tmp_path)
    assert "pip install rapidfuzz" in done.stderr
