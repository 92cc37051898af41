"""The page, asked by programs and agents."""

# Programs


@pytest.fixture(scope="module")
def client(address: str) -> Any:
    return pytest.importorskip("gradio_client").Client(address, verbose=False)


def test_programs_get_a_score_and_why(client: Any) -> None:
    why = client.predict("The Coca", ["Coca Cola"], api_name="/explain_answer")
    assert why["score"] == 0
    assert why["sentence"] == "5 edits on 9 characters: similarity 0.4444 is under 0.5, so 0."
    assert why["signature"] == anls.signature()
    scores = client.predict("ab", ["abcd"], api_name="/compare_variants")
    assert scores["standard"] == 0.5
    assert scores["pypi_anls"] == 0
    many = client.predict(["a", "b"], [["a"], ["c"]], variant="rrc", api_name="/score_answers")
    assert many["anls"] == 0.5
    assert many["signature"] == anls.signature("rrc")
    assert {row["name"] for row in client.predict(api_name="/list_variants")} == set(anls.VARIANTS)


def test_programs_score_files(client: Any, served: tuple[str, Path], tmp_path: Path) -> None:
    from gradio_client import handle_file

    result = client.predict(handle_file(str(GOLD)), handle_file(str(SUBMISSION)), api_name="/score_files")
    assert result["anls"] == pytest.approx(0.6273148)
    assert {name: count for name, count in result["zeros"].items() if count} == {"other": 1, "empty": 1}
    assert result["signature"] == anls.signature()
    low, high = result["interval"]
    assert low < result["anls"] < high
    same = client.predict(handle_file(str(GOLD)), handle_file(str(SUBMISSION)), case="counts", api_name="/score_files")
    assert same["signature"] == anls.signature(ignore_case=False)
    table = handle_file(str(ROOT / "examples" / "table.csv"))
    result = client.predict(table, "model", "accepted", "rrc", 0.9, api_name="/score_table")
    assert result["signature"] == anls.signature("rrc", 0.9)
    assert kept_uploads(served[1]) == []


@pytest.mark.parametrize(
    ("arguments", "endpoint", "said"),
    [
        (["a", ["a"], "standard", 7.0], "/explain_answer", "threshold is 7.0"),
        (["a" * 30_000, ["b" * 30_000]], "/explain_answer", "too long to compare here"),
        (["a" * 30_000, ["b" * 30_000]], "/compare_variants", "too long to compare here"),
        (
            [["a", "a" * 30_000], [["a"], ["b" * 30_000]]],
            "/score_answers",
            "prediction of row 1: the prediction has 30,000",
        ),
        (["a", ["a"], "none"], "/explain_answer", "there is no variant 'none'"),
        (["a", []], "/explain_answer", "accepted_answers"),
        ([7, ["a"]], "/explain_answer", "not a string"),
        ([["a"], []], "/score_answers", "1 predictions"),
    ],
)
def test_a_programs_mistake_is_told(client: Any, arguments: list[Any], endpoint: str, said: str) -> None:
    from gradio_client.exceptions import AppError

    with pytest.raises(AppError, match=said):
        client.predict(*arguments, api_name=endpoint)


def test_no_file_of_the_server_is_read(client: Any, address: str) -> None:
    host = Path("/etc/hostname").read_text().strip()
    for path in ("/etc/hostname", "../../../../etc/hostname", "file:///etc/hostname"):
        file = {"path": path, "meta": {"_type": "gradio.FileData"}}
        with pytest.raises(Exception, match=r".") as refused:
            client.predict(file, "prediction", "references", api_name="/score_table")
        assert host not in str(refused.value)
    for path in ("/etc/hostname", str(ROOT / "anls.py"), "anls.py", "app.py"):
        with pytest.raises(urllib.error.HTTPError) as closed:
            urllib.request.urlopen(f"{address}gradio_api/file={path}", timeout=10)
        assert closed.value.code in (403, 404)


def test_50_requests_at_once_get_their_own_answers(client: Any) -> None:
    def ask(number: int) -> Any:
        text = "x" * number + "y"
        return client.predict(text, ["x" * (number + 1)], "nls", api_name="/explain_answer")["score"]

    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(ask, range(1, 51))) == [
            anls.anls_score("x" * n + "y", "x" * (n + 1), variant="nls") for n in range(1, 51)
        ]


def test_agents_have_the_same_as_tools(address: str) -> None:
    pytest.importorskip("mcp", reason="tools need mcp")
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async def ask() -> tuple[Any, Any, Any]:
        async with (
            streamablehttp_client(f"{address}gradio_api/mcp/") as (reading, writing, _),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            tools = (await session.list_tools()).tools
            arguments = {"prediction": "CocaCola", "accepted_answers": ["Coca Cola"]}
            answer = await session.call_tool("explain_answer", arguments)
            arguments = {"table": uploaded, "prediction_column": "model", "references_column": "accepted"}
            return tools, answer, await session.call_tool("score_table", arguments)

    content = base64.b64encode((ROOT / "examples" / "table.csv").read_bytes()).decode()
    uploaded = f"data:text/csv;base64,{content}"  # or a public address, which there is none of without a network
    with ThreadPoolExecutor(1) as pool:  # playwright has a loop in this thread
        tools, answer, table = pool.submit(lambda: asyncio.run(ask())).result(60)
    assert f"{anls.signature()}" in table.content[0].text
    assert "0.5879" in table.content[0].text
    names = {tool.name: tool for tool in tools}
    expected = ["explain_answer", "compare_variants", "score_answers", "list_variants", "score_files", "score_table"]
    assert sorted(names) == sorted(expected)
    assert "say why" in names["explain_answer"].description
    assert "closest one counts" in json.dumps(names["explain_answer"].inputSchema)
    assert "0.8888888" in answer.content[0].text


def test_the_command_opens_it(tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    environment = {
        **os.environ,
        "BROWSER": f"""{sys.executable} -c "open('{opened}', 'w').write('%s')" """,
        "GRADIO_TEMP_DIR": str(tmp_path / "uploads"),
    }
    command = [sys.executable, "-m", "anls_metric.command_line", "--demo"]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            said = next(line for line in process.stdout if "http" in line)
            for _ in range(100):
                if opened.exists() and opened.read_text():
                    break
                time.sleep(0.1)
            address = opened.read_text()
            assert address.rstrip("/") in said
            assert "ANLS" in urllib.request.urlopen(address, timeout=20).read().decode()
            process.terminate()
            assert process.wait(20) == 0
        finally:
            process.kill()


def test_the_command_says_what_it_lacks() -> None:
    program = (
        "import sys; sys.modules['gradio'] = None;from anls_metric.command_line import main; sys.exit(main(['--demo']))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "calculate-anls: error: --demo needs gradio: pip install 'anls-metric[app]'\n"
