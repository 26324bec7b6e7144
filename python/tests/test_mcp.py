"""The server for agents: its answers are those of the program, and nothing leaves its roots."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

import metalens

pytest.importorskip("mcp")
from mcp import Client, StdioServerParameters

Ask = Callable[..., Coroutine[Any, Any, tuple[bool, str]]]
REFUSED = "is outside of the folders that this server may use"


def serve(folder: Path, *options: str, use: Callable[[Any, Ask], Awaitable[None]]) -> None:
    """Starts a server in a folder, and lets `use` ask it; `ask` returns whether it failed, and the text."""

    async def run() -> None:
        words = ["-m", "metalens.mcp", *options]
        parameters = StdioServerParameters(
            command=sys.executable, args=words, cwd=folder, env=dict(os.environ)
        )
        async with Client(parameters) as client:

            async def ask(tool: str, **arguments: Any) -> tuple[bool, str]:
                result = await client.call_tool(tool, arguments)
                return bool(result.is_error), result.content[0].text  # type: ignore[union-attr]

            await use(client, ask)

    asyncio.run(run())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with two recordings."""
    for scenario in ("eager", "fused"):
        metalens.run("synth", scenario, "-o", tmp_path / f"{scenario}.trace")
    return tmp_path


def test_answers_have_the_figures_that_were_simulated(folder: Path) -> None:
    truth = json.loads((folder / "eager.trace" / "truth.json").read_text())["runs"][-1]

    async def use(client: Any, ask: Ask) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["analyze", "what_if", "compare"]
        # An agent reads nothing else, and has all of it in its context all the time.
        assert sum(len(tool.model_dump_json()) for tool in tools) < 7_000
        for tool in tools:
            assert len(tool.description) > 80, tool.name
            for name, described in tool.input_schema["properties"].items():
                assert described.get("description"), (tool.name, name)
        skill = await client.read_resource("metalens://skill")
        assert skill.contents[0].text.startswith("---\nname: metalens\n")
        assert await ask("analyze") == (False, "./eager.trace\n./fused.trace")

        _, text = await ask("analyze", recording="eager.trace")
        assert "SYNTHETIC" in text and "Latency-bound" in text, text
        failed, text = await ask("analyze", recording="eager.trace", section="kernels", exact=True, top=20)
        assert not failed
        for kernel in truth["kernels"]:
            assert kernel["name"] in text and str(kernel["total_ns"]) in text, (kernel, text)
        failed, text = await ask("analyze", recording="eager.trace", section="idle", exact=True)
        for cause in ("completion", "host", "driver", "encoding"):
            assert str(truth["idle"][f"{cause}_ns"]) in text, (cause, text)

        _, text = await ask("analyze", recording="eager.trace", section="all", budget=1_000)
        assert len(text) <= 1_000 and "[cut: 1000 of " in text
        failed, text = await ask("analyze", recording="eager.trace", section="nonsense")
        assert failed and "kernels" in text
        failed, text = await ask("analyze", recording="eager.trace", sections="kernels")
        assert failed and "sections" in text, text
        _, text = await ask("what_if", recording="eager.trace")
        assert "--in-flight 2" in text, text
        failed, text = await ask(
            "what_if", recording="eager.trace", change=["in-flight=2", "kernel=matmul=0.5x"]
        )
        assert not failed and "instead of" in text, text
        failed, text = await ask("what_if", recording="eager.trace", change=["config=../secret"])
        assert failed and "there is no change 'config=../secret'" in text, text
        _, text = await ask("compare", base=["eager.trace"], new=["fused.trace"])
        assert "No kernel in common" in text and "1 run per side" in text, text
        failed, text = await ask("compare", base=["eager.trace"], new=["eager.trace"], gate="default")
        assert not failed and "Gate inconclusive" in text and "the same run is on both sides" in text, text
        failed, text = await ask("compare", base=["eager.trace"], new=["fused.trace"], gate="default")
        assert not failed and "Gate failed" in text, text

    serve(folder, use=use)


def test_nothing_outside_of_the_roots_is_read_or_written(folder: Path) -> None:
    inside, outside = folder / "inside", folder / "outside"
    inside.mkdir()
    outside.mkdir()
    (folder / "fused.trace").rename(inside / "fused.trace")
    (folder / "eager.trace").rename(outside / "eager.trace")
    (inside / "link.trace").symlink_to(outside / "eager.trace")
    (inside / "up").symlink_to(outside)
    (inside / "deep").mkdir()
    (inside / "deep" / "data").symlink_to(outside / "eager.trace")
    (inside / "worked.trace").write_text("")
    (inside / "worked.work.json").symlink_to(outside / "secret")
    secret = str(outside / "eager.trace")
    ways = [
        secret,
        "../outside/eager.trace",
        "fused.trace/../../outside/eager.trace",
        "link.trace",
        "up/eager.trace",
    ]
    absent = ["../outside/absent.trace", "up/absent.trace", str(outside / "absent.trace"), "/etc/passwd"]

    async def use(client: Any, ask: Ask) -> None:
        good = ["fused.trace"]
        for way in [*ways, *absent]:
            for tool, arguments in (
                ("analyze", {"recording": way}),
                ("analyze", {"recording": way, "section": "kernels"}),
                ("what_if", {"recording": way}),
                ("compare", {"base": good, "new": [way]}),
                ("compare", {"base": [way], "new": good}),
                ("compare", {"baseline": way, "new": good}),
                ("compare", {"base": good, "new": good, "gate": way}),
            ):
                failed, text = await ask(tool, **arguments)
                assert failed and REFUSED in text, (tool, arguments, text)
        for named, expected in (
            ("deep", "has the link 'data', which leads outside"),
            ("worked.trace", "has the link 'worked.work.json', which leads outside"),
            ("absent.trace", "does not exist below"),
            ("s3://bucket/fleet", "does not exist below"),
            ("-", "does not exist below"),
            ("a\0b", "is no path"),
        ):
            failed, text = await ask("analyze", recording=named)
            assert failed and expected in text, (named, text)
        for output, expected in (
            ("../new.trace", REFUSED),
            ("up/new.trace", REFUSED),
            (str(outside / "new.trace"), REFUSED),
            ("link.trace", REFUSED),
            ("fused.trace", "exists"),
            ("fused.trace/new.trace", "is inside a recording"),
            ("fused.trace/corespace/new.trace", "is inside a recording"),
            ("none/new.trace", "does not exist"),
            ("new", "does not end in .trace"),
        ):
            failed, text = await ask("record", program=["true"], simulate=True, output=output)
            assert failed and expected in text, (output, text)
        assert await ask("analyze") == (False, "./fused.trace")
        # Settings are an input at each call: a link may appear while the server runs.
        (inside / "metalens.toml").symlink_to(outside / "secret")
        failed, text = await ask("analyze", recording="fused.trace")
        assert failed and "the link 'metalens.toml', which leads" in text, text
        (inside / "metalens.toml").unlink()

    serve(inside, "--root", ".", "--allow-record", use=use)
    assert [path.name for path in outside.iterdir()] == ["eager.trace"]

    async def allowed(client: Any, ask: Ask) -> None:
        for named in (secret, "link.trace"):
            failed, text = await ask("analyze", recording=named)
            assert not failed, text

    serve(inside, "--root", ".", "--root", str(outside), use=allowed)
    wrong = subprocess.run(
        [sys.executable, "-m", "metalens.mcp", "--root", "absent"], capture_output=True, text=True, cwd=inside
    )
    assert wrong.returncode == 1 and "absent" in wrong.stderr and not wrong.stdout


def test_names_of_other_processes_are_shown_only_if_allowed(tmp_path: Path) -> None:
    metalens.run("synth", "shared-machine", "-o", tmp_path / "shared.trace")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("analyze", {"recording": "shared.trace"}),
        ("analyze", {"recording": "shared.trace", "section": "all", "budget": 200_000}),
        ("analyze", {"recording": "shared.trace", "process": "nobody"}),
        ("compare", {"base": ["shared.trace"], "new": ["shared.trace"], "section": "all", "budget": 200_000}),
    ]

    def shown(*options: str) -> list[bool]:
        found: list[bool] = []

        async def use(client: Any, ask: Ask) -> None:
            for tool, arguments in calls:
                _, text = await ask(tool, **arguments)
                found.append("Video Call" in text or "Browser Helper" in text)

        serve(tmp_path, *options, use=use)
        return found

    assert shown() == [False] * 4
    assert shown("--show-names")[1]


def test_nothing_is_recorded_unless_it_was_allowed(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"program": ["true"], "simulate": True, "output": "run.trace"}

    async def refuse(client: Any, ask: Ask) -> None:
        failed, text = True, ""
        try:
            failed, text = await ask("record", **arguments)
        except Exception as error:
            text = str(error)
        assert failed and "record" in text

    serve(tmp_path, use=refuse)
    assert not (tmp_path / "run.trace").exists()

    async def use(client: Any, ask: Ask) -> None:
        failed, text = await ask("record", **arguments)
        assert not failed and "SIMULATED" in text, text
        _, text = await ask("analyze", recording="run.trace")
        assert "SIMULATED" in text or "SYNTHETIC" in text, text
        failed, text = await ask("record", program=[])
        assert not failed and "This machine can" in text, text
        failed, text = await ask("record", program=["./no-such-program"], output="x.trace")
        assert failed and "This machine can" in text, text

    serve(tmp_path, "--allow-record", use=use)


def test_a_canceled_call_and_the_end_of_the_client_end_a_recording(tmp_path: Path) -> None:
    def is_running(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True

    def record(name: str) -> dict[str, Any]:
        script = f"echo $$ >{name}.pid; exec sleep 300"
        return {
            "program": ["sh", "-c", script],
            "simulate": True,
            "output": f"{name}.trace",
            "time_limit": "200s",
        }

    async def started(name: str) -> int:
        file = tmp_path / f"{name}.pid"
        while not (file.exists() and file.read_text().strip()):
            await asyncio.sleep(0.05)
        return int(file.read_text())

    pids = []

    async def use(client: Any, ask: Ask) -> None:
        call = asyncio.create_task(ask("record", **record("canceled")))
        pids.append(await started("canceled"))
        call.cancel()
        while is_running(pids[0]):
            await asyncio.sleep(0.05)
        assert (await ask("record", program=[]))[0] is False
        left = asyncio.create_task(ask("record", **record("left")))
        pids.append(await started("left"))
        left.cancel()

    serve(tmp_path, "--allow-record", use=use)
    until = time.monotonic() + 100
    while any(map(is_running, pids)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(is_running, pids))
