"""The notebooks run, and so do the lines of Python in the README of the package."""

import re
from pathlib import Path

import pytest
from conftest import ROOT, Simulate

NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path) -> None:
    for needed in ("nbclient", "nbformat", "ipykernel", "pandas", "polars", "numpy"):
        pytest.importorskip(needed, reason=f"SKIPPED: notebooks, without {needed}")
    import nbclient
    import nbformat

    notebook = nbformat.reads(path.read_text(), as_version=4)  # type: ignore[no-untyped-call]
    assert all(not cell.get("outputs") for cell in notebook.cells), "stored without outputs"
    said = " ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert "**synthetic**" in said, "a notebook says that its recordings are synthetic"
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    for needed in re.findall(r"^import (pandas|polars|numpy)", code, re.MULTILINE):
        assert re.search(f"`pip install .*{needed}", said), f"{needed} is not announced"
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert shown


@pytest.mark.parametrize("readme", ["README.md", "python/README.md"])
@pytest.mark.filterwarnings("ignore:metalens profiles only on macOS")
def test_lines_of_the_readme_run(
    readme: str, simulated: Simulate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = "\n".join(re.findall(r"```python\n(.*?)```", (ROOT / readme).read_text(), re.DOTALL))
    assert "metalens.analyze" in lines
    for name, scenario in (("run", "eager"), ("eager", "eager"), ("fused", "fused")):
        (tmp_path / f"{name}.trace").symlink_to(simulated(scenario))
    monkeypatch.chdir(tmp_path)
    exec(compile(lines, readme, "exec"), {})
