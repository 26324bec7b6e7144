"""Asks the server ten questions, as skills/metalens/SKILL.md teaches, and checks each figure.

    questions.py SERVER FOLDER

FOLDER has synthetic recordings, each with the truth that the simulator wrote inside. Every figure of
an answer is compared with the truth, never with what metalens prints. A second client speaks the
protocol's older form and checks what is not a question: progress, cancellation, pictures, resources.
"""

import asyncio
import base64
import json
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters

SERVER, FOLDER = sys.argv[1], Path(sys.argv[2])
HAS_QUERY = Path(SERVER).with_name("metalens-query").exists()
# Causes that one round trip is made of, and all causes.
ROUND_TRIP = ["completion", "driver_wait", "driver", "start_latency", "submission"]
PARTS = [*ROUND_TRIP, "host", "encoding", "queued", "contention", "unknown"]


def truth(recording, run=-1):
    """What the simulator wrote about a run of a recording."""
    return json.loads((FOLDER / recording / "truth.json").read_text())["runs"][run]


class Agent:
    """An agent that reads answers, and nothing else."""

    def __init__(self, client):
        self.client = client
        self.asked = 0

    async def ask(self, tool, **arguments):
        result = await self.client.call_tool(tool, arguments)
        text = result.content[0].text
        assert not result.is_error, f"{tool} {arguments}: {text}"
        return result.structured_content

    async def analyze(self, recording, **more):
        """The first step of the skill: the notes come before the figures."""
        answer = await self.ask("analyze", input=recording, **more)
        assert any(note.startswith("SYNTHETIC") for note in answer["notes"]), answer["notes"]
        return answer

    def answer(self, question, said, *pairs):
        """Prints an answer, after its figures were found true."""
        for what, found, true in pairs:
            assert found == true, f"{question} {what}: {found}, in truth {true}"
        self.asked += 1
        figures = len(pairs)
        print(f"question {self.asked}: {question}\n    {said} [{figures} figures are true]")


def idle_pairs(idle, true):
    return [(cause, idle[f"{cause}_ns"], true[f"{cause}_ns"]) for cause in PARTS] + [
        ("idle", idle["total_ns"], true["total_ns"])
    ]


async def how_busy(agent):
    found, true = await agent.analyze("eager.trace"), truth("eager.trace")
    busy, window = found["busy"], found["window"]
    agent.answer(
        "How busy was the GPU in eager.trace?",
        f"{busy['ratio']:.2%}: {busy['busy_ns']} of {window['span_ns']} ns; none of it measured",
        ("busy", busy["busy_ns"], true["busy"]["busy_ns"]),
        ("ratio", busy["ratio"], true["busy"]["ratio"]),
        ("window", window["span_ns"], true["window"]["span_ns"]),
        ("intervals", found["counts"]["intervals"], true["counts"]["intervals"]),
    )


async def why_idle(agent):
    found, true = await agent.analyze("eager.trace"), truth("eager.trace")["idle"]
    idle = found["idle"]
    assert sum(idle[f"{cause}_ns"] for cause in PARTS) == idle["total_ns"]
    largest = max(PARTS, key=lambda cause: idle[f"{cause}_ns"])
    waits = sum(true[f"{cause}_ns"] for cause in ROUND_TRIP)
    agent.answer(
        "Why was the GPU idle in eager.trace?",
        f"{found['verdict']['bound']}; most of it is {largest} latency",
        ("verdict", found["verdict"]["bound"], "latency" if waits * 2 > true["total_ns"] else None),
        ("largest", largest, max(PARTS, key=lambda cause: true[f"{cause}_ns"])),
        *idle_pairs(idle, true),
    )


async def does_it_wait(agent):
    verdict = (await agent.analyze("eager.trace"))["verdict"]["bound"]
    assert verdict == "latency"
    finding = await agent.ask("analyze", input="eager.trace", section="findings", name="serialized")
    finding = finding["findings"][0]
    gaps = await agent.ask("analyze", input="eager.trace", section="gaps")
    true = truth("eager.trace")
    # No change can save more than the time from each end to the next start.
    idle = true["idle"]
    assert 0 < finding["gain"]["saves_ns"] <= idle["total_ns"]
    assert finding["counter_evidence"] and finding["action"]
    agent.answer(
        "Does eager.trace wait for each command buffer?",
        f"yes, {gaps['idle']['serialized']} of {gaps['idle']['pairs']} times",
        ("serialized", gaps["idle"]["serialized"], idle["serialized"]),
        ("pairs", gaps["idle"]["pairs"], idle["pairs"]),
        ("depth", gaps["latency"]["queue"]["max_depth"], true["queue"]["max"]),
        ("completion", gaps["latency"]["completion"]["median_ns"],
         true["latency"]["completion"]["median_ns"]),
    )


async def which_kernel(agent):
    await agent.analyze("renderer.trace")
    found = await agent.ask("analyze", input="renderer.trace", section="kernels", top=20)
    true = truth("renderer.trace")
    kernels = sorted(true["kernels"], key=lambda one: -one["total_ns"])
    first = found["kernels"][0]
    pairs = [("number", found["total"], true["counts"]["kernels"])]
    for at, (one, other) in enumerate(zip(found["kernels"], kernels, strict=True)):
        for key in ["name", "channel", "instances", "total_ns", "med_ns", "p95_ns", "max_ns"]:
            pairs.append((f"kernel {at} {key}", one[key], other[key]))
    agent.answer(
        "Which kernel has the most GPU time in renderer.trace?",
        f"{first['name']} on {first['channel']}: {first['total_ns']} ns",
        *pairs,
    )


async def which_gaps(agent):
    await agent.analyze("batched.trace")
    found = await agent.ask("analyze", input="batched.trace", section="gaps")
    gaps, true = found["gaps"], truth("batched.trace")
    keys = ["count", "total_ns", "mean_ns", "median_ns", "p95_ns", "p99_ns", "max_ns", "below_1us"]
    agent.answer(
        "Are the gaps of batched.trace few and long, or many and short?",
        f"both: {gaps['below_1us']} of {gaps['count']} are below 1 µs, the longest has "
        f"{gaps['max_ns']} ns",
        ("histogram", gaps["histogram"], true["gaps"]["histogram"]),
        *[(key, gaps[key], true["gaps"][key]) for key in keys],
    )


async def more_overlap(agent):
    found, true = await agent.analyze("pipelined.trace"), truth("pipelined.trace")
    gaps = await agent.ask("analyze", input="pipelined.trace", section="gaps")
    depth = gaps["latency"]["queue"]
    queued = true["busy"]["busy_ns"] + true["idle"]["queued_ns"]
    bound = "gpu" if queued >= 0.9 * true["window"]["span_ns"] else None
    agent.answer(
        "Would it help pipelined.trace to commit earlier?",
        f"no: the GPU was busy or had work for all the time, {depth['max_depth']} buffers deep",
        ("verdict", found["verdict"]["bound"], bound),
        ("ratio", found["busy"]["ratio"], true["busy"]["ratio"]),
        ("deepest", depth["max_depth"], true["queue"]["max"]),
        ("depth", round(depth["mean_depth"], 9), round(true["queue"]["mean"], 9)),
        *idle_pairs(found["idle"], true["idle"]),
    )


async def who_else(agent):
    found, true = await agent.analyze("shared-machine.trace"), truth("shared-machine.trace")
    others = [one["name"] for one in true["processes"] if one["name"] != true["process"]["name"]]
    assert len(others) == 2 and not any(name in json.dumps(found) for name in others)
    agent.answer(
        "What did other programs cost in shared-machine.trace?",
        f"{found['idle']['contention_ns']} ns of waiting; their names are left out",
        ("contention", found["idle"]["contention_ns"], true["idle"]["contention_ns"]),
        ("others", found["busy"]["others_busy_ns"], true["busy"]["others_busy_ns"]),
        ("busy", found["busy"]["busy_ns"], true["busy"]["busy_ns"]),
    )


async def did_fusing_help(agent):
    await agent.analyze("eager.trace")
    await agent.analyze("fused.trace")
    found = await agent.ask(
        "compare", base=["eager.trace"], new=["fused.trace"], fusion=True, budget=30000
    )
    metrics = {one["id"]: one for one in found["metrics"]}
    before, after = truth("eager.trace"), truth("fused.trace")
    pairs = []
    for id, path in [
        ("window.span_ns", ("window", "span_ns")),
        ("busy.busy_ns", ("busy", "busy_ns")),
        ("counts.intervals", ("counts", "intervals")),
        ("gaps.total_ns", ("gaps", "total_ns")),
        ("gaps.median_ns", ("gaps", "median_ns")),
        ("idle.driver_ns", ("idle", "driver_ns")),
    ]:
        one, other = before[path[0]][path[1]], after[path[0]][path[1]]
        pairs.append((id, metrics[id]["base"], one))
        pairs.append((id, metrics[id]["new"], other))
        pairs.append((id, metrics[id]["absolute"], other - one))
    # One run per side: the skill forbids to call this proven, and the answer says why.
    assert "1 run per side" in found["method"]["says"], found["method"]
    assert metrics["window.span_ns"].get("interval") is None
    change = metrics["window.span_ns"]["relative"]
    agent.answer(
        "Did fusing the kernels help?",
        f"the window is {-change:.1%} shorter with as much GPU time; one run per side proves nothing",
        *pairs,
    )


async def ask_sql(agent):
    tables = await agent.client.call_tool("query", {})
    tables = tables.content[0].text
    assert "kernels  " in tables and "total_ns" in tables and "[cut" not in tables, tables
    columns = (await agent.client.call_tool("query", {"table": "kernels"})).content[0].text
    assert "Summed" in columns, columns
    sql = (
        "SELECT kernel, sum(total_ns) AS ns, sum(instances) AS n FROM kernels GROUP BY kernel "
        "ORDER BY kernel"
    )
    found = await agent.ask("query", sql=sql, inputs=["eager.trace", "batched.trace"])
    sums = {}
    for recording in ["eager.trace", "batched.trace"]:
        for one in truth(recording)["kernels"]:
            ns, n = sums.get(one["name"], (0, 0))
            sums[one["name"]] = (ns + one["total_ns"], n + one["instances"])
    rows = {row["kernel"]: (row["ns"], row["n"]) for row in found["rows"]}
    refused = await agent.client.call_tool(
        "query", {"sql": "DROP TABLE runs", "inputs": ["eager.trace"]}
    )
    assert refused.is_error
    agent.answer(
        "How much time has each kernel in eager.trace and batched.trace together?",
        ", ".join(f"{name} {ns} ns" for name, (ns, _) in rows.items()),
        ("rows", rows, sums),
        ("number", found["total"], len(sums)),
    )


async def which_run(agent):
    last = await agent.analyze("two-runs.trace")
    first = await agent.analyze("two-runs.trace", part={"run": 1})
    pairs = []
    for found, true in [(first, truth("two-runs.trace", 0)), (last, truth("two-runs.trace", 1))]:
        pairs += [
            ("run", found["run"]["number"], true["run"]),
            ("intervals", found["counts"]["intervals"], true["counts"]["intervals"]),
            ("busy", found["busy"]["busy_ns"], true["busy"]["busy_ns"]),
            ("idle", found["idle"]["total_ns"], true["idle"]["total_ns"]),
            ("driver", found["idle"]["driver_ns"], true["idle"]["driver_ns"]),
        ]
    agent.answer(
        "Which of the two runs of two-runs.trace did more work?",
        f"the second: {last['counts']['intervals']} intervals instead of "
        f"{first['counts']['intervals']}",
        *pairs,
    )


QUESTIONS = [
    how_busy, why_idle, does_it_wait, which_kernel, which_gaps, more_overlap, who_else,
    did_fusing_help, *([ask_sql] if HAS_QUERY else []), which_run,
]  # fmt: skip


def server(*options):
    return StdioServerParameters(command=SERVER, args=["--root", str(FOLDER), *options])


async def ask_questions():
    async with Client(server()) as client:
        agent = Agent(client)
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools == ["list", "analyze", "compare", "chart", "query"], tools
        skill = await client.read_resource("metalens://skill")
        assert skill.contents[0].text.startswith("---\nname: metalens\n")
        for question in QUESTIONS:
            await question(agent)


async def use_the_older_protocol():
    async with Client(server("--allow-record"), mode="legacy") as client:
        said = []

        async def progress(seconds, total, message):
            said.append(message)

        await client.call_tool("analyze", {"input": "fused.trace"}, progress_callback=progress)
        assert said and "analyzing fused.trace" in said[0], said

        drawn = await client.call_tool("chart", {"input": "fused.trace"})
        assert base64.b64decode(drawn.content[1].data).startswith(b"\x89PNG\r\n")

        schema = await client.read_resource("metalens://schema/report")
        assert json.loads(schema.contents[0].text)["title"].startswith("metalens.report/")
        report = await client.read_resource("metalens://report/fused.trace")
        found = json.loads(report.contents[0].text)
        assert found["busy"]["busy_ns"] == truth("fused.trace")["busy"]["busy_ns"]

        # A client that stops waiting cancels the call; the server answers the next one.
        record = {
            "program": ["sleep", "300"], "output": "long.trace", "simulate": True,
            "time_limit": "200s",
        }  # fmt: skip
        try:
            await asyncio.wait_for(client.call_tool("record", record), 3)
            raise AssertionError("a recording of 300 s took 3 s")
        except TimeoutError:
            pass
        assert (await client.call_tool("analyze", {"input": "fused.trace"})).is_error is False
        print("the older form of the protocol: progress, a picture, resources, cancellation")


asyncio.run(ask_questions())
asyncio.run(use_the_older_protocol())
