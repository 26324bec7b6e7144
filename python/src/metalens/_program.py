"""Runs the program ``metalens``."""

import os
import shutil
import signal
import subprocess
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

StrPath = str | os.PathLike[str]


class Error(RuntimeError):
    """A failure of the program, in its words.

    ``exit_code`` is what the program exited with: 2 for wrong usage, 3 if this machine cannot do it,
    4 if the recording is unusable, 5 if a gate failed, 6 if two sides are not comparable. It is None
    if there was no program to run.
    """

    def __init__(self, words: str, exit_code: int | None = None) -> None:
        super().__init__(words)
        self.exit_code = exit_code


def program() -> str:
    """Returns the path of the program: ``$METALENS``, else that of this package, else on the PATH."""
    beside = Path(sysconfig.get_path("scripts")) / "metalens"
    chosen = os.environ.get("METALENS") or (str(beside) if beside.is_file() else None)
    path = chosen or shutil.which("metalens")
    if path is None:
        raise Error("there is no program metalens: install the wheel of metalens, or set METALENS")
    return path


def run(*arguments: StrPath) -> str:
    """Runs a command of ``metalens``, such as ``run("synth", "eager", "-o", "eager.trace")``.

    Returns what it prints. An interrupt stops the program as Ctrl-C does, so that a recording is
    saved.
    """
    return finish([os.fspath(argument) for argument in arguments])[0]


def finish(arguments: Sequence[str]) -> tuple[str, str]:
    """Runs a command, and returns what it printed on stdout and stderr."""
    with subprocess.Popen(
        [program(), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        # Notebooks force colors on what they start.
        env={**os.environ, "NO_COLOR": "1"},
        # A terminal's Ctrl-C would reach the program too, and a second one discards a recording.
        process_group=0,
    ) as child:
        try:
            out, words = child.communicate()
        except KeyboardInterrupt:
            child.send_signal(signal.SIGINT)
            child.communicate()
            raise
    if child.returncode != 0:
        raise Error(_without_label(words) or f"exit code {child.returncode}", child.returncode)
    return out, words


def _without_label(words: str) -> str:
    return words.strip().removeprefix("error: ")


def flags(options: Iterable[tuple[str, object]]) -> list[str]:
    """Returns the options of a command line. None and False leave one out."""
    words: list[str] = []
    for name, value in options:
        if value is True:
            words.append(f"--{name}")
        elif value is not None and value is not False:
            # One word, so that a value that begins with - is not taken for an option.
            words.append(f"--{name}={value}")
    return words
