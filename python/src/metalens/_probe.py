"""Profiles a part of this process with the probe, which only a Mac can load.

The probe writes a command-buffer log (docs/command-buffer-log.md), and the program reads it.
"""

import ctypes
import errno
import os
import shutil
import sys
import tempfile
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import TracebackType

from metalens._program import Error, StrPath, run
from metalens._report import Report, analyze

_NOT_HERE = "metalens profiles only on macOS: here profile() and phase() do nothing"


class Profile:
    """What ``profile()`` gives: the log of the command buffers, and a report on it.

    Both are None where nothing was profiled, and while the profile runs.
    """

    def __init__(self, path: StrPath | None) -> None:
        if path is None:
            folder = tempfile.mkdtemp()
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            path = Path(folder) / "profile.jsonl"
        self._path = Path(path)
        self._report: Report | None = None
        self.log: Path | None = None

    def __enter__(self) -> "Profile":
        self._probe = _probe()
        number = 0 if self._probe is None else self._probe.metalens_start(bytes(self._path))
        if number != 0:
            # Two of them have a meaning of their own.
            told = {errno.EBUSY: "a log is being written already", errno.ENODEV: "there is no Metal here"}
            raise Error(f"the probe cannot begin {self._path}: {told.get(number, os.strerror(number))}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._probe is not None:
            self._probe.metalens_stop()
            self.log = self._path

    @property
    def report(self) -> Report | None:
        """The report on what the GPU did meanwhile."""
        if self._report is None and self.log is not None:
            self._report = analyze(self.log)
        return self._report

    def _repr_html_(self) -> str:
        report = self.report
        return f"<p>{_NOT_HERE}.</p>" if report is None else report._repr_html_()

    def __repr__(self) -> str:
        return f"<Profile: {self.report or _NOT_HERE}>"


def profile(path: StrPath | None = None) -> Profile:
    """Profiles the GPU work of this process: ``with metalens.profile() as p: …``, then ``p.report``.

    The log is written to ``path``, which is replaced, else to a temporary file that lasts as long as the
    profile. Off macOS this does nothing, and says so once.
    """
    return Profile(path)


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Names a part of the program's work: ``with metalens.phase("decode"): …``.

    Phases are in the log while a profile runs. Off macOS this does nothing, and says so once.
    """
    probe = _probe()
    if probe is None:
        yield
        return
    probe.metalens_phase_begin(name.encode())
    try:
        yield
    finally:
        probe.metalens_phase_end(name.encode())


@cache
def _probe() -> ctypes.CDLL | None:
    """Loads the probe once. Off macOS there is none."""
    if sys.platform != "darwin":
        warnings.warn(_NOT_HERE, stacklevel=3)
        return None
    try:
        probe = _declared(ctypes.CDLL(None))
    except AttributeError:
        # `metalens record` has not put it into this process.
        try:
            probe = _declared(ctypes.CDLL(run("probe").strip()))
        except (AttributeError, OSError) as why:
            raise Error(f"the probe cannot be loaded: {why}") from why
    return probe


def _declared(library: ctypes.CDLL) -> ctypes.CDLL:
    for name, arguments in (
        ("metalens_start", [ctypes.c_char_p]),
        ("metalens_stop", []),
        ("metalens_phase_begin", [ctypes.c_char_p]),
        ("metalens_phase_end", [ctypes.c_char_p]),
    ):
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = ctypes.c_int if name == "metalens_start" else None
    return library
