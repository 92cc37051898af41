"""The page, opened by the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.conftest import ROOT


def test_page_starts_on_a_machine_that_needs_seconds_for_its_first_page(tmp_path: Path) -> None:
    pytest.importorskip("gradio", reason="the page needs gradio")
    program = """
import asyncio
from anls_metric.page import server
call = server.Guard.__call__
async def wait(guard, scope, receive, send):
    if scope.get("path") == "/":
        await asyncio.sleep(5)  # gradio gives its own page 3 s
    await call(guard, scope, receive, send)
server.Guard.__call__ = wait
server.launch(server.build())
"""
    environment = {**os.environ, "GRADIO_TEMP_DIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        try:
            assert any(b"The web app runs at http://127.0.0.1:" in line for line in process.stdout)
        finally:
            process.kill()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_command_opens_the_page_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    pytest.importorskip("gradio", reason="the page needs gradio")
    opened, uploads = tmp_path / "opened", tmp_path / "uploads"
    uploads.mkdir()
    environment = {
        **os.environ,
        "BROWSER": f"""{sys.executable} -c "open('{opened}', 'w').write('%s')" """,
        "GRADIO_TEMP_DIR": str(uploads),
    }
    command = [sys.executable, "-m", "anls_metric", "demo"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            message = next(line for line in process.stdout if "http" in line)
            while not (opened.exists() and opened.read_text()):
                assert process.poll() is None
                time.sleep(0.1)
            address = opened.read_text()
            assert address.rstrip("/") in message
            assert "ANLS" in urllib.request.urlopen(address, timeout=60).read().decode()
            assert list(uploads.glob("anls-*"))
            process.send_signal(getattr(signal, name))
            assert process.wait(60) == 0
            assert not list(uploads.glob("anls-*"))
        finally:
            process.kill()
