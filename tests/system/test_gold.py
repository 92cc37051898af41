"""Gold data by name: the fetch in processes, since huggingface_hub reads its settings when it is imported."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import anls_metric
from anls_metric import gold
from anls_metric.gold import GOLD
from anls_metric.page import file_scores
from tests.conftest import ROOT
from tests.system.conftest import Shell
from tests.system.fake_hub import TOKEN, FakeHub, make_row, write

pytest.importorskip("huggingface_hub")
pytest.importorskip("pyarrow")

EMPTY = Path("empty")
BLOCKED = "import sys; sys.modules.update(dict.fromkeys(('huggingface_hub', 'pyarrow'))); "
RUN = "import sys; from anls_metric.__main__ import run; run()"
PYTHON = "import sys, anls_metric; anls_metric.score(sys.argv[2], gold=sys.argv[1])"
FILL = "import sys; from anls_metric.gold import GOLD, load_rows; [load_rows(GOLD[name]) for name in sys.argv[1:]]"
INTERRUPT = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "  # if the parent ignores it


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeHub]:
    folder = tmp_path_factory.mktemp("hub")
    for row in GOLD.values():
        if row.name != "docvqa:val":
            write(folder, row, row.rows)
    with FakeHub(folder) as server:
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def cache(hub: FakeHub, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with all data, of which docvqa:val was fetched last."""
    folder = tmp_path_factory.mktemp("cache")
    others = [name for name in GOLD if name != "docvqa:val"]
    start(hub, folder, *others, program=FILL, more={"HF_TOKEN": TOKEN}).wait(60)
    size = write(hub.folder, GOLD["docvqa:val"], GOLD["docvqa:val"].rows, files=6, image_bytes=6000)
    hub.requests = hub.bytes = 0
    done = start(hub, folder, "docvqa:val", program=FILL)
    assert (done.wait(60), 0 < hub.bytes < 0.03 * size) == (0, True)
    return folder


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the rows of all data, made in this process."""
    folder = tmp_path_factory.mktemp("filled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANLS_CACHE", str(folder))
        patch.setattr(gold, "_fetch", lambda row: [make_row(row.name, number) for number in range(row.rows)])
        for row in GOLD.values():
            gold.load_rows(row)
    return folder


@pytest.fixture
def offline(filled: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache, for commands in this process, which cannot fetch anything."""
    monkeypatch.setenv("ANLS_CACHE", str(filled))
    monkeypatch.setattr(gold, "_fetch", lambda row: pytest.fail(f"{row.name} is fetched"))
    return filled


def start(
    hub: FakeHub, cache: Path, *words: str, program: str = RUN, more: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[str]:
    """Start a process in the folder of the test."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    settings = {"HF_ENDPOINT": hub.url, "HF_HOME": str(cache / "hf"), "ANLS_CACHE": str(cache), "PYTHONPATH": str(ROOT)}
    options = {**dict.fromkeys(["stdin", "stdout", "stderr"], subprocess.PIPE), **options}
    env = {**kept, **settings, **(more or {})}
    return subprocess.Popen([sys.executable, "-c", program, *words], text=True, env=env, **options)


def run(hub: FakeHub, cache: Path, *words: str, **options: Any) -> tuple[int, str, str]:
    process = start(hub, cache, *words, **options)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def answer(name: str, folder: Path) -> None:
    """Write an answer to each question into answers.json. Two of three are right."""
    path = next(folder.glob(f"{name.replace(':', '-')}-*.jsonl"))
    answers = []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1]):
        row = json.loads(line)
        accepted = row.get("gold", row.get("answer", row.get("answers")))
        accepted = accepted[-1] if isinstance(accepted, list) else accepted
        key = "id" if "id" in row else "questionId"
        answers.append({key: row[key], "prediction": accepted if number % 3 else "?"})
    Path("answers.json").write_text(json.dumps(answers), encoding="utf-8")


# The fetch


@pytest.mark.thorough
def test_second_run_asks_for_nothing_and_needs_no_library(shell: Shell, hub: FakeHub, cache: Path) -> None:
    answer("docvqa:val", cache)
    hub.requests = 0
    status, out, _ = run(hub, cache, "docvqa:val", "answers.json", program=BLOCKED + RUN)
    assert (status, hub.requests) == (0, 0)
    assert "|threshold:0.5|questions:5349|gold:" in out
    assert "\nreferences   docvqa:val: answers\njoined by    questionId, 5,349 of 5,349" in out
    assert "rrc" in out
    assert run(hub, EMPTY, "datasets", program=BLOCKED + RUN)[0] == 0


@pytest.mark.thorough
def test_broken_cache_is_fetched_anew_by_several_processes_at_once(shell: Shell, hub: FakeHub, cache: Path) -> None:
    name, own = "mmlongbench", Path("own").absolute()
    whole = next(cache.glob(f"{name}-*.jsonl"))
    own.mkdir()
    (own / whole.name).write_bytes(whole.read_bytes().replace(b"Not answerable", b"Not answerably", 1))
    assert ":" not in whole.name
    answer(name, cache)
    processes = [start(hub, own, name, "answers.json", "--score-only") for _ in range(3)]
    outputs = [process.communicate(timeout=60) for process in processes]
    assert len({out for out, _ in outputs}) == 1
    assert f"hint: mmlongbench: {whole.name} in the cache was damaged, so the data were fetched again" in outputs[0][1]
    assert {process.returncode for process in processes} == {0}
    assert (own / whole.name).read_bytes() == whole.read_bytes()
    assert {path.name for path in own.iterdir()} - {"hf"} == {whole.name}


FILE = "or pass the path of the gold file"
GATED = "accept its terms at https://huggingface.co/datasets/ahmed-masry/ChartQAPro, and set HF_TOKEN"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "more", "words"),
    [
        ("mmlongbench", {"HF_TOKEN": "hf_wrong"}, "the Hub rejects your token: correct or unset HF_TOKEN"),
        ("mmlongbench", {"HF_HUB_OFFLINE": "1"}, f"HF_HUB_OFFLINE is set: unset it, {FILE}"),
        ("mmlongbench", {"HF_ENDPOINT": "http://127.0.0.1:9"}, f"Connection refused): check the network, {FILE}"),
        ("chartqapro", {}, GATED),
    ],
)
def test_failed_fetch_says_what_to_do(shell: Shell, hub: FakeHub, name: str, more: dict[str, str], words: str) -> None:
    status, out, err = run(hub, EMPTY, name, "a.json", more=more)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"anls: error: {name}: ")
    assert words in err


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("count", "options", "words"),
    [
        (99, {}, "the Hub has 99 rows, expected 100, so nothing is kept"),
        (100, {"drop": "ground_truth"}, "the files on the Hub have no column ground_truth"),
        (100, {"files": 0}, f"the Hub does not have {GOLD['cord:test'].source} at {GOLD['cord:test'].revision}: "),
    ],
)
def test_other_data_are_not_kept(shell: Shell, tmp_path: Path, count: int, options: Any, words: str) -> None:
    row = GOLD["cord:test"]
    with FakeHub(tmp_path / "hub") as other:
        write(other.folder, row, count, **options)
        status, _, err = run(other, tmp_path / "own", row.name, "a.json")
        other.shutdown()
    assert (status, words in err) == (2, True), err
    assert not list(tmp_path.glob("own/*.jsonl"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("program", "number"),
    [(RUN, signal.SIGINT), (RUN, signal.SIGTERM), (RUN, signal.SIGKILL), (INTERRUPT + PYTHON, signal.SIGINT)],
)
def test_interrupted_fetch_ends_at_once_with_its_process(
    shell: Shell, hub: FakeHub, cache: Path, program: str, number: int
) -> None:
    hub.is_asked.clear()
    hub.may_send.clear()
    try:
        process = start(hub, EMPTY, "docvqa:val", "a.json", program=program)
        assert hub.is_asked.wait(60)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)  # the Hub is silent, and the process that fetches holds this pipe
    finally:
        hub.may_send.set()
    assert (process.returncode, "KeyboardInterrupt" in err) == (-number, program != RUN)


@pytest.mark.thorough
def test_token_goes_to_no_other_host(shell: Shell, hub: FakeHub, tmp_path: Path) -> None:
    row = GOLD["cord:test"]
    with FakeHub(hub.folder) as other:
        name = other.url.replace("127.0.0.1", "localhost")
        hub.tokens.clear()
        try:
            hub.next_page = f"{name}/api/datasets/{row.dataset}/tree/{row.revision}/data?cursor=2"
            status, _, err = run(hub, tmp_path, row.name, "a.json", more={"HF_TOKEN": TOKEN})
            assert (status, other.requests) == (2, 0)
            assert "the Hub lists more files than these data have" in err
            hub.next_page, hub.sends_on = "", name
            done = start(hub, tmp_path, row.name, program=FILL, more={"HF_TOKEN": TOKEN})
            assert done.wait(60) == 0
        finally:
            hub.next_page = hub.sends_on = ""
            other.shutdown()
    assert (TOKEN in hub.tokens, other.tokens) == (True, {""})


@pytest.mark.thorough
def test_fetch_that_lasts_says_so_also_in_a_pipe(shell: Shell, hub: FakeHub, tmp_path: Path) -> None:
    done = start(hub, tmp_path, "cord:test", program=f"import anls_metric.hub as g; g.PATIENCE = 0; {FILL}")
    assert done.communicate(timeout=60) == ("", f"cord:test: still fetching from {hub.url}\n")


@pytest.mark.thorough
@pytest.mark.parametrize("status", [429, 503])
def test_busy_hub_is_asked_again(shell: Shell, hub: FakeHub, tmp_path: Path, status: int) -> None:
    hub.busy = [(status, {"Retry-After": "1"}), (status, {})] * 2
    done = start(hub, tmp_path, "infovqa:val", program=FILL)
    assert (done.wait(60), hub.busy) == (0, [])


@pytest.mark.thorough
def test_hub_that_stays_busy_or_silent_ends_in_words(shell: Shell, hub: FakeHub, tmp_path: Path) -> None:
    hub.busy = [(429, {"Retry-After": "600"})] * 50
    status, _, err = run(hub, tmp_path, "infovqa:val", "a.json")
    hub.busy = []
    assert (status, err) == (2, f"anls: error: infovqa:val: the Hub is busy (status 429): try again later, {FILE}\n")
    hub.may_send.clear()
    try:
        impatient = "import anls_metric.hub as g; g.SILENCE = 1; g.PATIENCE = 99; "
        status, _, err = run(hub, tmp_path, "infovqa:val", "a.json", program=impatient + RUN)
    finally:
        hub.may_send.set()
    words = f"the Hub has not answered for 1 s: check the network, {FILE}"
    assert (status, err) == (2, f"anls: error: infovqa:val: {words}\n")


def test_missing_extra_and_folder_without_room_are_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANLS_CACHE", "a.json")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert "needs huggingface_hub: pip install 'anls-metric[hub]'" in shell.error("docvqa:val a.json")
    row = GOLD["cord:test"]
    monkeypatch.setattr(gold, "_fetch", lambda row: [make_row(row.name, i) for i in range(row.rows)])
    assert shell.error(f"{row.name} b.json").startswith("cord:test: cannot write to a.json (")
    monkeypatch.delenv("ANLS_CACHE")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    message = "cord:test: no home folder was found for the cache: set ANLS_CACHE to a folder"
    assert shell.error(f"{row.name} b.json") == message


@pytest.mark.thorough
def test_terminal_shows_progress(shell: Shell, hub: FakeHub) -> None:
    terminal, end = os.openpty()
    subprocess.run(["stty", "rows", "24", "columns", "80"], stdin=end, check=True)
    assert start(hub, EMPTY, "infovqa:val", program=FILL, stderr=end).wait(60) == 0
    _, first, *_, cleared, _ = os.read(terminal, 10_000).decode().split("\r")
    assert (first[:21], cleared.strip()) == ("fetching infovqa:val:", "")


# Names

ASKING = ("questions docvqa:test", "export rrc docvqa:test a.json", "check-submission a.json --ids docvqa:test")
FIRST = "docvqa:val: gold data must come first: pass them before the predictions"
NOTHING = "docvqa:val: there is nothing to score: pass the predictions file as well"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("docvqa a.json", "docvqa: no such file or gold data: did you mean docvqa:val?"),
        (
            "-g docvqa:test a.json",
            "docvqa:test: test splits, whose references are secret, are not downloaded: use docvqa:val, or pass a file "
            "with the questions to anls export rrc",
        ),
        ("DocVQA:validation", "DocVQA:validation: no such file or gold data: did you mean docvqa:val?"),
        ("check-submission a.json --ids docvqa:vla", "no such file or gold data: did you mean docvqa:val?"),
        ("golden.json a.json", "golden.json does not exist: did you mean gold.json?"),
        ("nothing a.json", "nothing does not exist"),
        ("nothing:val a.json", "choose from docvqa:val, infovqa:val"),
        *((line, "test splits, whose references are secret, are not") for line in ASKING),
        ("questions nothing", "unknown name 'nothing'; choose from docvqa:val, infovqa:val"),
        ("docvqa:val", NOTHING),
        ("-g docvqa:val", NOTHING),
        ("docvqa:val missing.json", "missing.json does not exist"),
        ("a.json docvqa:val", FIRST),
        ("gold.json a.json docvqa:val", FIRST),
        ("-g gold.json docvqa:val", FIRST),
    ],
)
def test_mistake_is_found_before_a_fetch(shell: Shell, monkeypatch: pytest.MonkeyPatch, line: str, words: str) -> None:
    monkeypatch.setattr(gold, "_load", lambda row: pytest.fail("it is loaded"))
    assert words in shell.error(line)


def test_file_of_a_name_comes_first(shell: Shell, offline: Path) -> None:
    Path("docvqa:val").write_bytes(Path("gold.json").read_bytes())
    assert shell.document("docvqa:val a.json")["signature"] == shell.document("gold.json a.json")["signature"]


def test_page_resolves_no_name(offline: Path, shell: Shell) -> None:
    with pytest.raises(ValueError, match="does not exist"):
        file_scores.score(["a.json"], "docvqa:val", {})


# Scores

# Name, variant, number of scored questions, and the fields of a question that `anls questions` gives out.
SETS = [
    ("docvqa:val", "standard", 5349, "questionId question docId ucsf_document_id ucsf_document_page_no"),
    ("infovqa:val", "standard", 2801, "questionId question image_url"),
    ("mmlongbench", "mmlongbench_doc", 1091, "questionId question doc_id doc_type"),
    ("chartqapro", "chartqapro", 1948, "questionId question question_type paragraph"),
    ("ocrbench_v2", "ocrbench_v2", 6000, "id question type dataset_name"),
    ("cord:test", "anls_star", 100, "questionId image_id"),
    ("cord:val", "anls_star", 100, "questionId image_id"),
]


@pytest.mark.parametrize(("name", "variant", "count", "fields"), SETS)
def test_name_scores_as_its_file(shell: Shell, offline: Path, name: str, variant: str, count: int, fields: str) -> None:
    answer(name, offline)
    document = shell.document(f"{name} answers.json --extra ignore")
    assert document["signature"].startswith(f"anls|{variant}|")
    assert f"|questions:{count}|gold:" in document["signature"]
    assert shell.print(f"questions {name} -o gold.jsonl --with-answers") == ""
    same = shell.document(f"gold.jsonl answers.json --extra ignore --variant {variant}")
    assert same["signature"] == document["signature"]
    assert same["submissions"][0]["anls"] == document["submissions"][0]["anls"] > 0
    rows = [json.loads(line) for line in shell.print(f"questions {name}").removesuffix("\n").split("\n")]
    assert list(rows[1]) == fields.split()  # nothing that gives the answer away
    if name in ("mmlongbench", "chartqapro", "cord:test", "cord:val"):  # they have no ids
        assert [row["questionId"] for row in rows] == list(range(len(rows)))
    for row in [row for row in rows if row.get("question_type") == "Conversational"]:
        assert [(turn["question"][-1], turn["answer"][-1]) for turn in row["turns"]] == [("0", "0"), ("1", "1")]
        assert row["question"].endswith("Turn 2")


def test_receipts_accept_single_lines_in_both_forms() -> None:
    """CORD stores a single line as an object, and several as a list; models write a list, or learn CORD's form."""
    tea, ice = {"nm": "tea", "price": "2,000"}, {"nm": "ice"}
    receipts: list[dict[str, Any]] = [
        {"menu": tea, "total": {"total_price": "2,000"}},
        {"menu": [{**tea, "sub": ice}, {"nm": "milk"}], "void_menu": ice},
    ]
    rows = [
        GOLD["cord:val"].make_row({"ground_truth": json.dumps({"gt_parse": receipt, "meta": {"image_id": 7}})}, number)
        for number, receipt in enumerate(receipts)
    ]
    assert [(row["questionId"], row["image_id"]) for row in rows] == [(0, 7), (1, 7)]
    lists = [
        {**receipts[0], "menu": [tea]},
        {"menu": [{**tea, "sub": [ice]}, {"nm": "milk"}], "void_menu": [ice]},
    ]
    for predictions in (receipts, lists):
        answers = [row["answers"] for row in rows]
        assert anls_metric.score(predictions, answers, variant="anls_star").anls == 1.0
    wrong = [{**receipts[0], "menu": [tea, ice]}, {"menu": {"nm": "milk"}, "void_menu": ice}]
    assert anls_metric.score(wrong, [row["answers"] for row in rows], variant="anls_star").anls < 1.0


def test_sample_depends_on_seed_and_ids_alone(shell: Shell, offline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(flags: str) -> list[str]:
        return shell.print(f"questions docvqa:val {flags}").removesuffix("\n").split("\n")

    every, drawn, fewer = draw(""), draw("--sample 500 --seed 1"), draw("--sample 100 --seed 1")
    assert drawn == [line for line in every if line in {*drawn}]
    assert (len(drawn), len({*drawn}), len({*fewer} - {*drawn})) == (500, 500, 0)
    ids = sorted(
        (json.loads(line)["questionId"] for line in every), key=lambda key: sha256(f"1:{key}".encode()).digest()
    )
    assert {json.loads(line)["questionId"] for line in drawn} == {*ids[:500]}
    assert {*draw("--sample 500 --seed 2")} != {*drawn}
    assert "--sample must be from 1 to 5349" in shell.error("questions docvqa:val --sample 9999")
    answer("docvqa:val", offline)
    shell.print("questions docvqa:val --sample 500 --seed 1 --with-answers -o gold.jsonl")
    assert shell.document("gold.jsonl answers.json --extra ignore")["submissions"][0]["questions"] == 500


def test_variant_of_the_user_beats_that_of_the_name(shell: Shell, offline: Path) -> None:
    answer("mmlongbench", offline)
    signature = shell.document("mmlongbench answers.json --variant standard")["signature"]
    assert signature.startswith("anls|standard|threshold:0.5|questions:1091|")
    answer("docvqa:val", offline)
    assert "(the leaderboard" in shell.print("docvqa:val answers.json")
    assert "(the leaderboard" not in shell.print("docvqa:val answers.json --variant rrc")


@pytest.mark.filterwarnings("ignore::anls_metric.ANLSWarning")
def test_python_takes_names(shell: Shell, offline: Path) -> None:
    answer("docvqa:val", offline)
    expected = shell.document("docvqa:val answers.json")
    scores = anls_metric.score("answers.json", gold="docvqa:val")
    assert (scores.anls, scores.signature) == (expected["submissions"][0]["anls"], expected["signature"])
    compared = anls_metric.compare({"one": "answers.json", "two": "answers.json"}, gold="docvqa:val")
    assert compared.signature == expected["signature"]
    assert anls_metric.compare(["docvqa:val", "answers.json"]).signature == expected["signature"]
    Path("other.json").write_bytes(Path("answers.json").read_bytes())
    assert shell.document("docvqa:val answers.json other.json")["signature"] == expected["signature"]


def test_outputs_say_the_name_and_never_the_path(shell: Shell, offline: Path) -> None:
    answer("docvqa:val", offline)
    shell.print("docvqa:val answers.json --output results.json --report report.html --worst 1")
    results = json.loads(Path("results.json").read_text(encoding="utf-8"))
    assert results["inputs"] == ["docvqa:val", str(Path("answers.json").absolute())]
    report = Path("report.html").read_text(encoding="utf-8")
    assert "docvqa:val" in report
    assert str(offline) not in report + json.dumps(results)
    shell.print("export rrc docvqa:val answers.json -o rrc.json")
    assert "all 5,349 questions are answered" in shell.print("check-submission rrc.json --ids docvqa:val")
    yaml = shell.print("export hub docvqa:val answers.json --dataset lmms-lab-encoder/DocVQA --task docvqa")
    assert "|questions:5349|" in yaml


def test_own_file_with_the_questions_of_a_name_has_its_signature(shell: Shell, offline: Path) -> None:
    answer("docvqa:val", offline)
    by_name = shell.document("docvqa:val answers.json")["signature"]
    lines = shell.print("questions docvqa:val --with-answers").removesuffix("\n").split("\n")
    rows = [json.loads(line) for line in reversed(lines)]
    shell.write({"own.json": {"data": [{"qid": int(row["questionId"]), "answers": row["answers"]} for row in rows]}})
    assert shell.document("own.json answers.json")["signature"] == by_name


def test_datasets_and_pins_name_all_rows(shell: Shell, offline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [line.split()[0] for line in shell.print("datasets").splitlines()] == ["name", *GOLD]
    assert {len(row.revision) for row in GOLD.values()} == {40}
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    pin_gold = importlib.import_module("pin_gold")
    answer("cord:test", offline)
    digest = shell.document("cord:test answers.json")["signature"].split("gold:")[1][:8]
    assert pin_gold.pin(GOLD["cord:test"]) == f"cord:test: 100 of 100 rows are questions, gold:{digest}"
