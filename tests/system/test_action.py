"""The composite action: its shell steps, run by bash as a runner of GitHub does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from tests.conftest import ROOT

yaml: Any = pytest.importorskip("yaml")

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")

COMPARE = ROOT / "examples" / "compare"
GOLD, BASE, TUNED = (str(COMPARE / f"{name}.json") for name in ("gold", "base", "tuned"))
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"]}

# The command as pip installs it; and a Python that prints its arguments instead of installing, and which pip it has.
PROGRAMS = {
    "anls": "from anls_metric.__main__ import run\nrun()",
    "python": """import subprocess, sys
*options, module = sys.argv[1 : sys.argv.index("install")]
assert module == "pip" and options.pop() == "-m"
print(*sys.argv[1:])
find = "import importlib.util as u; print('pip of', getattr(u.find_spec('pip'), 'origin', None))"
subprocess.run([sys.executable, *options, "-c", find], check=True, stdout=sys.stderr)""",
}

Step = Callable[..., tuple[int, dict[str, str], str, str]]


@pytest.fixture
def run_step(tmp_path: Path) -> Step:
    """Run a step: its exit status, its outputs, the summary of the job, and what it printed."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, lines in PROGRAMS.items():
        (programs / name).write_text(f"#!{sys.executable}\n{lines}\n", encoding="utf-8")
        (programs / name).chmod(0o755)
    summary, output = tmp_path / "summary.md", tmp_path / "output"

    def run(step: str, **inputs: str) -> tuple[int, dict[str, str], str, str]:
        given = {name: value.get("default", "") for name, value in ACTION["inputs"].items()}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}

        def fill_in(text: str) -> str:
            text = text.replace("${{ github.action_path }}", "/the/action")
            return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: given[match[1]], text)

        for path in (summary, output):
            path.write_text("", encoding="utf-8")
        environment = {name: fill_in(value) for name, value in STEPS[step]["env"].items()}
        environment |= {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output), "RUNNER_TEMP": str(tmp_path)}
        environment |= {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        assert STEPS[step]["shell"] == "bash"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[step]["run"]],
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
        outputs = dict(line.split("=", 1) for line in output.read_text(encoding="utf-8").splitlines())
        return done.returncode, outputs, summary.read_text(encoding="utf-8"), done.stdout + done.stderr

    return run


def test_steps_take_inputs_by_the_environment_only() -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert [step for step in STEPS.values() if "${{" in step["run"]] == []
    used = set(re.findall(r"inputs\.([\w-]+)", str(STEPS)))
    assert used == set(ACTION["inputs"])
    outputs = re.findall(r"steps\.score\.outputs\.(\w+)", str(ACTION["outputs"]))
    assert outputs == list(ACTION["outputs"])


def test_install_takes_the_repository_of_the_action_or_a_package(run_step: Step) -> None:
    first = "-I -m pip install --quiet --require-hashes --requirement /the/action/.github/requirements.txt\n"
    second = "-I -m pip install --quiet --no-deps --no-build-isolation"
    assert run_step("install")[3].startswith(f"{first}{second} /the/action\n")
    assert run_step("install", package="anls-metric==2.0.0")[3].startswith(f"{first}{second} anls-metric==2.0.0\n")


def test_steps_run_no_file_of_the_checkout(run_step: Step, tmp_path: Path) -> None:
    for name in ("pip", "json", "argparse", "rapidfuzz", "anls_metric", "sitecustomize", "usercustomize"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w').close()\n", encoding="utf-8")
    status, _, _, printed = run_step("install")
    assert (status, printed.count("pip of "), str(tmp_path) in printed) == (0, 2, False)
    assert run_step("score", gold=GOLD, submission=TUNED)[0] == 0
    assert not (tmp_path / "ran").exists()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("inputs", "status", "parts"),
    [
        ({"baseline": BASE, "submission": TUNED, "fail_if_worse": "true"}, 0, ["| tuned | **0.9728** |"]),
        ({"submission": f"{TUNED}\n{BASE}\n", "table": "--percent --digits 1"}, 0, ["| tuned | **97.3** |", "| base"]),
        (
            {"baseline": TUNED, "submission": BASE, "fail_if_worse": "true", "fail_under": "0.9"},
            1,
            ["base is worse than tuned", "under 0.9", "| base |"],
        ),
        ({"submission": "a; rm -rf $(that) is not there.json"}, 2, ["does not exist"]),
        ({"submission": "--corrections=c.json"}, 2, ["./--corrections=c.json does not exist"]),
    ],
)
def test_summary_of_the_job_has_the_table_and_the_status(
    run_step: Step, inputs: dict[str, str], status: int, parts: list[str]
) -> None:
    done, outputs, summary, printed = run_step("score", gold=GOLD, **inputs)
    assert done == status, printed
    assert [part for part in parts if part not in summary] == []
    assert summary == f"### ANLS\n\n{Path(outputs['report']).read_text(encoding='utf-8')}"
    last = inputs["submission"].splitlines()[-1]
    assert outputs.get("anls") == (None if status == 2 else str(anls_metric.score(last, gold=GOLD).anls))


@pytest.mark.parametrize("word", ["True", "yes", "", "false "])
@pytest.mark.parametrize("switch", ["fail-if-worse", "allow-doubt"])
def test_switch_of_the_action_is_true_or_false(run_step: Step, word: str, switch: str) -> None:
    status, outputs, _, printed = run_step("score", gold=GOLD, submission=TUNED, baseline=BASE, **{switch: word})
    assert (status, outputs) == (2, {})
    assert f"{switch} must be true or false, got '{word}'" in printed
