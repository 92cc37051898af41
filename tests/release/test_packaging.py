"""The release: a source distribution whose tests run, a complete wheel, and the folder of the Space."""

from __future__ import annotations

import configparser
import email
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from email.message import Message
from pathlib import Path

import pytest

import anls_metric
from tests.conftest import ROOT, copy_of_the_checkout

NAME = f"anls_metric-{anls_metric.__version__}"

# An environment in which a program sees only the packages of its folder and its Python.
ALONE = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**ALONE, **environment}
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=cwd, env=env)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel built from it."""
    for needed in ("build", "hatchling", "hatch_fancy_pypi_readme"):
        pytest.importorskip(needed)
    folder = tmp_path_factory.mktemp("built")
    copy = copy_of_the_checkout(folder / "copy")
    done = run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, copy, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(built / f"{NAME}-py3-none-any.whl")


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    return email.message_from_bytes(wheel.read(f"{NAME}.dist-info/METADATA"))


def files(folder: Path) -> set[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if "__pycache__" not in path.parts}


def test_source_distribution_holds_the_checkout(built: Path) -> None:
    shutil.unpack_archive(built / f"{NAME}.tar.gz", built)
    assert files(built / NAME) == files(built / "copy") | {"PKG-INFO"}
    assert "tests/conftest.py" in files(built / NAME)


def test_wheel_holds_the_package_its_types_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert held == {f"anls_metric/{name}" for name in files(ROOT / "anls_metric")}
    assert "anls_metric/py.typed" in held
    entries = configparser.ConfigParser()
    entries.read_string(wheel.read(f"{NAME}.dist-info/entry_points.txt").decode())
    command = "anls_metric.__main__:run"
    assert {group: dict(entries[group]) for group in entries.sections()} == {
        "anls_metric.scorers": {
            "rules": "anls_metric.rules:RULES",
            "values": "anls_metric.core.values:VALUE_VARIANTS",
        },
        "console_scripts": {"anls": command, "calculate-anls": command},
        "inspect_ai": {"anls_metric": "anls_metric.inspect_ai"},
        "lm_eval.filters": {"anls_extract": "anls_metric.lm_eval:ExtractFilter"},
        "lm_eval.metrics": {"anls": "anls_metric.lm_eval:anls"},
    }


def test_installed_package_is_typed(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="the extra `lint` is not installed")
    venv.create(tmp_path / "venv", symlinks=True)
    python = tmp_path / "venv" / "bin" / "python"
    wheel.extractall(run(python, "-c", "import site; print(site.getsitepackages()[0])", cwd=tmp_path).stdout.strip())
    program = [
        "from anls_metric import anls_score, score",
        "reveal_type(anls_score('a', ['b']))",
        "anls_score(1, ['b'])",
        "scores = score(['a'], [['b']], variant='rrc')",
        "reveal_type(scores.submissions['data'].answers.name)",
        "reveal_type(scores.answers()[0]['outcome'])",
        "score(['a'], [['b']], varient='rrc')",
    ]
    (tmp_path / "program.py").write_text("\n".join(program), encoding="utf-8")
    checked = run(sys.executable, "-m", "mypy", "--strict", "--python-executable", python, "program.py", cwd=tmp_path)
    assert 'Revealed type is "float"' in checked.stdout, checked.stdout + checked.stderr
    assert 'program.py:3: error: Argument 1 to "anls_score" has incompatible type "int"' in checked.stdout
    assert re.search('program.py:5: note: Revealed type is "(?!.*Any).*str', checked.stdout)
    assert 'program.py:6: note: Revealed type is "str"' in checked.stdout
    assert 'program.py:7: error: Unexpected keyword argument "varient" for "score"' in checked.stdout
    assert "Found 2 errors in 1 file" in checked.stdout


def test_metadata_matches_citation_and_readme(metadata: Message) -> None:
    assert (metadata["Name"], metadata["Version"]) == ("anls-metric", anls_metric.__version__)
    assert [need for need in metadata.get_all("Requires-Dist", []) if "extra ==" not in need] == ["rapidfuzz>=3.8"]
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"  - name: {metadata['Author']}\n" in cited
    classifiers = metadata.get_all("Classifier", [])
    oldest = metadata["Requires-Python"].removeprefix(">=")
    assert {"Typing :: Typed", f"Programming Language :: Python :: {oldest}"} <= set(classifiers)
    for url in metadata.get_all("Project-URL", []):
        assert url.partition(", ")[2] in cited + (ROOT / "README.md").read_text(encoding="utf-8")


def test_long_description_reads_on_its_own(metadata: Message) -> None:
    description = str(metadata.get_payload())
    assert metadata["Description-Content-Type"] == "text/markdown"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert description.startswith("# anls-metric")
    link = re.compile(r"\]\(([^)\s]+)\)")
    links, here = link.findall(description), link.findall(readme)
    card = (ROOT / "docs" / "metric_card.md").read_text(encoding="utf-8")
    (namespace,) = re.findall(r"the Space `([\w-]+)/anls`", card)
    space = f"https://huggingface.co/spaces/{namespace}/anls/"
    assert len(links) == len(here) > 10
    for absolute, given in zip(links, here):
        assert absolute in (given, f"{space}blob/main/{given}", f"{space}resolve/main/{given}")
        assert absolute.startswith(("https://", "#"))


def test_space_requirements_equal_the_app_extra(metadata: Message) -> None:
    needs = [need.partition("; extra == 'app'") for need in metadata.get_all("Requires-Dist", [])]
    expected = {need for need, extra, _ in needs if extra or ";" not in need}
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert {line for line in lines if line and not line.startswith("#")} == expected


# The Space, and the forge


def test_space_runs_from_its_folder_alone(tmp_path: Path) -> None:
    pytest.importorskip("evaluate")
    page = importlib.util.find_spec("gradio") is not None
    script, options = ROOT / "tools" / "space.py", ["--namespace", "somebody", *([] if page else ["--without-page"])]
    done = run(sys.executable, script, tmp_path / "space", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{{'anls': {(8 / 9 + 0) / 2}}} {anls_metric.signature()}\n" in done.stdout
    assert ("the page answers /explain_answer" in done.stdout) is page
    held = files(tmp_path / "space")
    assert {"README.md", "app.py", "anls.py", "anls_metric/page/server.py", "requirements.txt"} <= held
    assert {name for name in held if name.startswith(("tests/", "."))} == set()
    readme = (tmp_path / "space" / "README.md").read_text(encoding="utf-8")
    front_matter, _, _ = readme.removeprefix("---\n").partition("\n---\n")
    assert {"sdk: gradio", "app_file: app.py", "tags:"} <= set(front_matter.splitlines())
    assert ("`somebody/anls`" in readme) is ("NAMESPACE" in (ROOT / "docs/metric_card.md").read_text(encoding="utf-8"))
    assert "NAMESPACE" not in readme
    for document in (tmp_path / "space").rglob("*.md"):
        for link in re.findall(r"\]\((?!https://)([^)#\s]+)", document.read_text(encoding="utf-8")):
            assert (document.parent / link).exists(), f"{document}: {link}"


def test_forge_does_every_step_of_ci_and_releases_what_was_checked() -> None:
    yaml = pytest.importorskip("yaml")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (steps,) = re.findall(r"^\[ \$# -gt 0 \] \|\| set -- (.*)$", script, re.MULTILINE)
    every = [*steps.split(), "bounds"]
    assert [step for step in every if f"\n{step}() {{" not in script or f"\n#   {step} " not in script] == []
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8"))["jobs"]
    assert jobs["step"]["strategy"]["matrix"]["step"] == every
    assert [step["run"] for step in jobs["step"]["steps"] if "run" in step] == ["bash .ci/run ${{ matrix.step }}"]
    uploaded = {
        name: {step["with"]["name"] for step in job["steps"] if "upload" in step.get("uses", "")}
        for name, job in jobs.items()
    }
    assert uploaded == {"step": {"space"}, "build": {"dist"}, "release": set()}
    assert jobs["release"]["needs"] == ["step", "build"]
    assert jobs["release"]["if"] == "startsWith(github.ref, 'refs/tags/v')"


def test_build_job_runs_nothing_but_the_build() -> None:
    yaml = pytest.importorskip("yaml")
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "checks.yml").read_text(encoding="utf-8"))["jobs"]
    (lines,) = [step["run"].splitlines() for step in jobs["build"]["steps"] if "run" in step]
    assert lines == [
        "python -m pip install --require-hashes --requirement .github/requirements.txt",
        "python -m hatchling build --directory dist",
    ]


def test_workflows_pin_actions_by_commit() -> None:
    workflows = (ROOT / ".github" / "workflows").glob("*.yml")
    uses = [use for path in workflows for use in re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))]
    assert uses
    assert [use for use in uses if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)] == []


def test_requirements_of_the_action_have_hashes_and_every_dependency() -> None:
    text = (ROOT / ".github" / "requirements.txt").read_text(encoding="utf-8")
    blocks = re.findall(r"^([\w.-]+)==\S+.*\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", text, re.MULTILINE)
    assert len(blocks) == len(re.findall(r"^\w", text, re.MULTILINE))
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    needed = [
        *project["project"]["dependencies"],
        *extras["files"],
        *extras["hub"],
        *project["build-system"]["requires"],
    ]
    names = {name.lower().replace("_", "-") for name, _ in blocks}
    assert {re.split("[<>=]", each)[0].lower().replace("_", "-") for each in needed} <= names
    assert "https://" not in text
