#!/usr/bin/env python3
"""Analyze a folder of recordings on many machines at once, into one dataset.

Spark runs `metalens analyze RECORDING --parquet DATASET` once per recording, and again where
it loses the worker. Then Spark SQL and DuckDB answer the same questions over the same files.

Exit codes: 0 all is well; 1 a recording failed, or the two answers differ; 2 bad usage.
"""

import argparse
import os
import shutil
import socket
import subprocess
import sys
from collections import Counter, namedtuple
from pathlib import Path
from textwrap import indent

import duckdb
from pyspark import TaskContext
from pyspark.sql import SparkSession

TABLES = ["runs", "gaps", "kernels"]
TRIES = 4
SHOWN_ROWS = 12

# Both engines get this very text. `runs` lists only whole runs, so each question joins it.
QUESTIONS = {
    "Idle time by cause, device and run, in ns": """
        SELECT r.device, r.date, r.input, sum(g.duration_ns) AS idle, sum(g.completion_ns) AS completion,
               sum(g.host_ns) AS host, sum(g.encoding_ns) AS encoding, sum(g.submission_ns) AS submission,
               sum(g.queued_ns) AS queued, sum(g.contention_ns) AS contention, sum(g.unknown_ns) AS unknown
        FROM gaps g JOIN runs r ON g.run = r.run
        GROUP BY r.device, r.date, r.input, r.run
        ORDER BY idle DESC, r.run
    """,
    "GPU time by kernel and device, and its share of the runs' windows": """
        SELECT device, kernel, count(*) AS runs, sum(kernel_ns) AS gpu_ns, sum(kernel_ns) / sum(window_ns) AS share
        FROM (SELECT r.device, k.kernel, r.run, max(r.window_ns) AS window_ns, sum(k.total_ns) AS kernel_ns
              FROM kernels k JOIN runs r ON k.run = r.run GROUP BY r.device, k.kernel, r.run) AS per_run
        GROUP BY device, kernel
        ORDER BY gpu_ns DESC, device, kernel
    """,
}


Outcome = namedtuple("Outcome", "recording code message attempt worker")


def main():
    options = arguments()
    recordings = find_recordings(options.recordings)
    if not recordings:
        sys.exit(f"error: no recording in {options.recordings}")
    spark = start_spark(options)
    outcomes = analyze_all(spark, recordings, options)
    failed = report(outcomes)
    if failed == len(outcomes):
        return 1

    sql = open_dataset(spark, options.dataset)
    remove_drafts(sql, options.dataset, outcomes)
    doubled = report_doubled(sql, outcomes)
    differing = [title for title, question in QUESTIONS.items() if not ask_both(spark, sql, title, question)]
    spark.stop()
    return 1 if failed or doubled or differing else 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", type=Path, help="folder to search for .trace bundles, exports and their zips")
    parser.add_argument("dataset", type=Path, help="folder of the dataset, which all workers see under this path")
    parser.add_argument("--workers", type=int, default=2, help="worker processes on this machine [default: 2]")
    parser.add_argument("--master", help="a Spark cluster to use instead, such as spark://head:7077")
    parser.add_argument("--metalens", default="metalens", help="the program, which all workers have under this path")
    options = parser.parse_args()
    program = shutil.which(options.metalens)
    if not program:
        parser.error(f"cannot find the program {options.metalens}; give its path with --metalens")
    options.metalens = Path(program).resolve()
    options.recordings, options.dataset = options.recordings.resolve(), options.dataset.resolve()
    return options


def find_recordings(folder):
    """Returns the recordings below a folder, by path; never searches inside one."""
    found = []
    for path, folders, files in os.walk(folder):
        inside = [name for name in folders if is_recording(Path(path, name))]
        found += [str(Path(path, name)) for name in [*inside, *files] if name in inside or name.endswith(".zip")]
        folders[:] = [name for name in folders if name not in inside]
    return sorted(found)


def is_recording(folder):
    """Tells whether a folder is a bundle or an export."""
    return folder.suffix == ".trace" or any(folder.glob("toc.xml*"))


def start_spark(options):
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if not options.master:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.master": options.master or f"local-cluster[{options.workers},1,1024]",
        "spark.task.maxFailures": TRIES,
        "spark.scheduler.minRegisteredResourcesRatio": 1.0,  # begin when all workers are there
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.parquet.mergeSchema": "true",  # newer versions of metalens may add columns
    }
    spark = SparkSession.builder.appName("metalens fleet").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def analyze_all(spark, recordings, options):
    """Makes each recording a task of its own, so that fast workers take more of them."""
    program, dataset = str(options.metalens), str(options.dataset)
    tasks = spark.sparkContext.parallelize(recordings, len(recordings))
    return tasks.map(lambda recording: analyze(recording, program, dataset)).collect()


def analyze(recording, program, dataset):
    """Runs metalens in a worker process. Its exit code is its word; only a signal is tried again."""
    command = [program, "analyze", recording, "--parquet", dataset, "--quiet"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = done.stderr.decode(errors="replace").strip()
    attempt = TaskContext.get().attemptNumber() + 1
    if done.returncode < 0 and attempt < TRIES:
        raise RuntimeError(f"signal {-done.returncode} ended metalens on {recording}")
    return Outcome(recording, done.returncode, message, attempt, f"{socket.gethostname()}/{os.getppid()}")


def report(outcomes):
    """Prints who analyzed what; returns how many recordings failed."""
    for worker, count in sorted(Counter(outcome.worker for outcome in outcomes).items()):
        print(f"worker {worker}: recordings: {count}")
    for outcome in outcomes:
        if outcome.attempt > 1:
            print(f"RETRIED {outcome.recording}: attempt {outcome.attempt}; it or its worker was killed before")
    failed = [outcome for outcome in outcomes if outcome.code != 0]
    for outcome in failed:
        print(f"FAILED {outcome.recording}: exit code {outcome.code}\n{indent(outcome.message, '    ')}")
    print(f"{len(outcomes) - len(failed)} of {len(outcomes)} recordings analyzed")
    return len(failed)


def open_dataset(spark, dataset):
    """Makes the tables views of Spark's and of a DuckDB that it returns."""
    sql = duckdb.connect()
    for table in TABLES:
        spark.read.parquet(f"{dataset}/{table}").createOrReplaceTempView(table)
        files = f"{dataset}/{table}/*/*/*/part.parquet".replace("'", "''")
        sql.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{files}', union_by_name = true, "
                    "hive_partitioning = true, hive_types = {'device': VARCHAR, 'date': DATE, 'run': VARCHAR})")
    return sql


def remove_drafts(sql, dataset, outcomes):
    """Removes the unfinished files that lost attempts left, and none of anybody else's runs."""
    names = {Path(outcome.recording).name for outcome in outcomes}
    runs = {run for run, name in sql.execute("SELECT run, input FROM runs").fetchall() if name in names}
    for draft in dataset.glob("*/device=*/date=*/run=*/.metalens-*"):
        if draft.parent.name.removeprefix("run=") in runs:
            draft.unlink(missing_ok=True)


def report_doubled(sql, outcomes):
    """Prints recordings that are not one run each: chance decides which of two copies stays."""
    stored = sql.execute("SELECT input, count(*) OVER (PARTITION BY run) FROM runs").fetchall()
    names = Counter(Path(outcome.recording).name for outcome in outcomes if outcome.code == 0)
    replaced = names - Counter(name for name, _ in stored)
    doubled = sorted({*replaced, *(name for name, rows in stored if rows > 1 and name in names)})
    for name in doubled:
        print(f"DOUBLED {name}: another file here is the same recording; keep one of them and run this again")
    return len(doubled)


def ask_both(spark, sql, title, question):
    """Prints the answer of Spark SQL; returns whether DuckDB's is the same."""
    answer = spark.sql(question)
    rows = [tuple(row) for row in answer.collect()]
    print(f"\n{title} (the first {SHOWN_ROWS} rows)")
    for row in [answer.columns, *rows[:SHOWN_ROWS]]:
        print("  " + " | ".join(map(str, row)))

    same = rows == sql.execute(question).fetchall()
    print(f"  {'Spark SQL and DuckDB agree' if same else 'SPARK SQL AND DUCKDB DIFFER'}; rows: {len(rows)}")
    return same


if __name__ == "__main__":
    sys.exit(main())
