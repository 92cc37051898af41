"""Lay out the folder of the Space, and check that metric and page run from it alone.

    python tools/space.py FOLDER [--namespace NAME] [--without-page]

It creates FOLDER, to be pushed to the Hub, with everything that the Space runs, that a clone of it installs, and that
README and the metric card link to. The metric card is the README of the Space. The Python that runs this script needs
the packages of requirements.txt; with --without-page it skips the page, and evaluate and rapidfuzz are enough.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARD = "docs/metric_card.md"
RUNS = ("app.py", "anls.py", "anls_metric", "requirements.txt")
INSTALLS = ("pyproject.toml", "examples", "LICENSE")
LINK = re.compile(r"\]\((?!https://)([^)#\s]+)[^)]*\)")
# Without this checkout on the path, a program finds only the files in its folder.
ALONE = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

USES_THE_METRIC = """
import sys, evaluate
anls = evaluate.load(sys.argv[1])
print(anls.compute(predictions=["CocaCola", "The Coca"], references=[["Coca Cola"], "Coca Cola"]), anls.signature())
"""


def lay_out(folder: Path, namespace: str | None = None) -> None:
    """Copy what the Space needs into a new folder."""
    folder.mkdir(parents=True)
    linked = find_linked_files(CARD) | find_linked_files("README.md")
    for name in [*RUNS, *INSTALLS, *sorted(linked - {"README.md"})]:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        else:
            shutil.copy(source, target)
    card = (ROOT / CARD).read_text(encoding="utf-8")
    (folder / "README.md").write_text(LINK.sub(move_link, card), encoding="utf-8")
    for name in ("README.md", CARD, "pyproject.toml") if namespace else ():
        text = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(text.replace("NAMESPACE/", f"{namespace}/"), encoding="utf-8")


def move_link(link: re.Match[str]) -> str:
    """Change a link of the metric card to what it is at the top of the folder."""
    target = os.path.normpath(os.path.join(os.path.dirname(CARD), link[1]))
    return link[0].replace(link[1], target, 1)


def find_linked_files(document: str) -> set[str]:
    """Find the files of this checkout that can be reached by links from a document, including the document."""
    names, waiting = set(), {document}
    while waiting:
        name = waiting.pop()
        names.add(name)
        if name.endswith(".md"):
            for link in LINK.findall((ROOT / name).read_text(encoding="utf-8")):
                waiting |= {os.path.relpath((ROOT / name).parent / link, ROOT)} - names
    return names


def check_metric(folder: Path) -> str:
    """Load the metric from its file in another folder, as evaluate does from the Hub, and return its output."""
    with tempfile.TemporaryDirectory() as elsewhere:
        command = [sys.executable, "-c", USES_THE_METRIC, str(folder / "anls.py")]
        done = subprocess.run(command, cwd=elsewhere, env=ALONE, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"evaluate.load does not work from {folder}:\n{done.stderr}")
    return done.stdout.strip()


def check_page(folder: Path) -> str:
    """Run app.py as the Hub does, and return its answer to a program."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as elsewhere:
        own = {"GRADIO_SERVER_NAME": "127.0.0.1", "GRADIO_SERVER_PORT": str(port), "HF_HUB_OFFLINE": "1"}
        environment = {**ALONE, **own, "GRADIO_TEMP_DIR": elsewhere}
        log = Path(elsewhere) / "log"
        with open(log, "w", encoding="utf-8") as stream:
            command = [sys.executable, "app.py"]
            page = subprocess.Popen(command, cwd=folder, env=environment, stdout=stream, stderr=stream)
        try:
            info = None
            while info is None:
                if page.poll() is not None:
                    raise SystemExit(f"app.py does not run from {folder}:\n{log.read_text(encoding='utf-8')}")
                info = answer(f"http://127.0.0.1:{port}/gradio_api/info")
            return f"the page answers {', '.join(json.loads(info)['named_endpoints'])}"
        finally:
            page.terminate()
            page.wait(60)


def answer(address: str) -> bytes | None:
    """Return the response of a server; None while it starts."""
    try:
        with urllib.request.urlopen(address, timeout=60) as response:
            return bytes(response.read())
    except OSError:
        time.sleep(0.25)
        return None


def main() -> None:
    """Lay out the folder, and check it."""
    flags = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    flags.add_argument("folder", type=Path)
    flags.add_argument("--namespace", help="who the Space belongs to on the Hub: takes the place of NAMESPACE")
    flags.add_argument("--without-page", action="store_true", help="do not run app.py")
    arguments = flags.parse_args()
    folder = arguments.folder.resolve()
    lay_out(folder, arguments.namespace)
    print(check_metric(folder))
    if not arguments.without_page:
        print(check_page(folder))
    for cache in folder.rglob("__pycache__"):
        shutil.rmtree(cache)
    print(f"the Space is in {folder}")


if __name__ == "__main__":
    main()
