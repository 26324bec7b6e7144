#!/usr/bin/env python3
"""Test analyze_fleet.py: kill a worker while it writes, and compare with one machine's dataset.

    python examples/fleet/test.py [METALENS]

Exit codes: 0 all checks hold; 1 one does not; 3 SKIPPED, since something is not installed.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCENARIOS = HERE.parent.parent / "fixtures/scenarios"
LARGE = 400_000  # intervals: seconds of work, so that there is time to kill
DRAFT = 1_000_000  # bytes: only the large recording's drafts grow beyond this
MACHINES = ["Mac16,1", "Mac Studio"]
PATIENCE = 600  # seconds


def main():
    metalens = requirements(sys.argv[1] if len(sys.argv) > 1 else "metalens")
    with tempfile.TemporaryDirectory(prefix="metalens-fleet-") as scratch:
        nightly, one, many = (Path(scratch, name) for name in ("nightly", "one", "many"))
        good = make_recordings(metalens, nightly)
        make_broken(metalens, nightly)
        alone = subprocess.run([metalens, "analyze", *good, "--parquet", one, "--quiet"], stdout=subprocess.DEVNULL)
        check("one machine alone writes the dataset", alone.returncode == 0)

        command = [sys.executable, HERE / "analyze_fleet.py", nightly, many, "--workers", "2", "--metalens", metalens]
        log = Path(scratch, "log")
        with log.open("w") as output, subprocess.Popen(command, stdout=output) as fleet:
            try:
                killed = kill_a_worker(fleet, many)
                fleet.wait(PATIENCE)
            finally:
                fleet.kill()
        said = log.read_text()
        print(said)

        check(f"a worker was killed while it wrote (process {killed})", killed)
        check("two workers or more took part", said.count("\nworker ") + said.startswith("worker ") >= 2)
        check("the large recording was tried again", f"RETRIED {nightly}/large.trace: attempt 2" in said)
        check("a damaged bundle is named, with metalens' message",
              f"FAILED {nightly}/damaged.trace: exit code 4\n    error: {nightly}/damaged.trace" in said)
        check("so is a recording without rows",
              f"FAILED {nightly}/no-target-rows.trace: exit code 4\n    error:" in said)
        check("the two failures make the exit code 1", fleet.returncode == 1)
        check(f"the {len(good)} others were analyzed", f"\n{len(good)} of {len(good) + 2} recordings" in said)
        check("Spark SQL and DuckDB agree on both questions", said.count("Spark SQL and DuckDB agree") == 2)
        ours, theirs = contents(many), contents(one)
        size = sum(map(len, ours.values()))
        check(f"the dataset is that of one machine: {len(ours)} files, {size} bytes", ours and ours == theirs)


def requirements(program):
    missing = [name for name in ("pyspark", "duckdb") if importlib.util.find_spec(name) is None]
    java = "java" if not os.environ.get("JAVA_HOME") else f"{os.environ['JAVA_HOME']}/bin/java"
    missing += [name for name in (java, "ps") if not shutil.which(name)]
    if missing:
        print(f"SKIPPED: not installed: {', '.join(missing)}; README.md says how")
        sys.exit(3)
    return shutil.which(program) or sys.exit(f"error: cannot find the program {program}")


def check(what, holds):
    print(f"{'ok' if holds else 'FAILED'}: {what}", flush=True)
    if not holds:
        sys.exit(1)


def make_recordings(metalens, folder):
    """Writes synthetic recordings of two machines: bundles, an export and one that is large."""
    made = []
    for scenario in ("eager", "fused", "batched", "pipelined"):
        text = (SCENARIOS / f"{scenario}.toml").read_text()
        for seed, machine in enumerate(MACHINES, start=1):
            made.append(folder / machine / f"{scenario}.trace")
            synthesize(metalens, seeded(text, seed, machine), made[-1])
    made.append(folder / "exported")
    synthesize(metalens, seeded((SCENARIOS / "eager.toml").read_text(), 3, MACHINES[0]), made[-1])
    made.append(folder / "large.trace")
    large = (SCENARIOS / "million.toml").read_text().replace("count = 1000000\n", f"count = {LARGE}\n")
    synthesize(metalens, large, made[-1])
    return made


def seeded(scenario, seed, machine):
    lines = [line for line in scenario.splitlines() if not line.startswith("seed")]
    return "\n".join([f"seed = {seed}", *lines, "[recording]", f'model = "{machine}"'])


def synthesize(metalens, scenario, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.parent / "scenario.toml"
    file.write_text(scenario)
    subprocess.run([metalens, "synth", file, "-o", path, "--quiet"], check=True)
    file.unlink()


def make_broken(metalens, folder):
    subprocess.run([metalens, "synth", "no-target-rows", "-o", folder / "no-target-rows.trace", "--quiet"], check=True)
    shutil.copytree(folder / MACHINES[0] / "eager.trace", folder / "damaged.trace")
    for store in folder.glob("damaged.trace/**/bulkstore"):
        os.truncate(store, store.stat().st_size // 2)


def kill_a_worker(fleet, dataset):
    """Kills the Spark executor above the large recording's metalens while that writes; returns its number."""
    deadline = time.monotonic() + PATIENCE
    while fleet.poll() is None and time.monotonic() < deadline:
        if any(size(draft) > DRAFT for draft in dataset.glob("intervals/*/*/*/.metalens-*")):
            executor = executor_at_work(fleet.pid)
            if executor:
                os.kill(executor, signal.SIGKILL)
                return executor
        time.sleep(0.01)
    return None


def size(file):
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def executor_at_work(fleet):
    """Returns the executor, among the descendants of this fleet, that reads the large recording."""
    listed = subprocess.run(["ps", "-axww", "-o", "pid=,ppid=,command="], capture_output=True, text=True, check=True)
    processes = {}
    for line in listed.stdout.splitlines():
        number, parent, command = line.split(None, 2)
        processes[int(number)] = (int(parent), command)
    for number, (_, command) in processes.items():
        if " analyze " in command and "large.trace" in command:
            above = list(ancestors(number, processes))
            executors = [one for one in above if "CoarseGrainedExecutorBackend" in processes[one][1]]
            if fleet in above and executors:
                return executors[0]
    return None


def ancestors(number, processes):
    while number in processes:
        number = processes[number][0]
        if number in processes:
            yield number


def contents(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


if __name__ == "__main__":
    main()
