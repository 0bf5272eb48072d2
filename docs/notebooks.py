"""The notebooks: run by Jupyter with their outputs stored, and shown as pages.

``python docs/notebooks.py`` runs those of ``examples`` from top to bottom, on the data
in the folder that ``SKDPTEXT_DATA`` names or in ``../shared/data``, and stores what
each cell shows. The pages show that, by myst-nb: building the site runs none of them.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import api_pages  # noqa: E402
import near  # noqa: E402

if TYPE_CHECKING:
    from nbclient import NotebookClient

EXAMPLES = HERE.parent / "examples"
FOLDER = HERE / "notebooks"
INLINE = "module://matplotlib_inline.backend_inline"  # as Jupyter chooses by itself
SITE = "https://skdptext.readthedocs.io/en/latest"
# Before the first cell, and stored nowhere; a kernel may have run another notebook.
BEFORE = f"""%reset -f
import sys
sys.path[:0] = [] if {str(HERE)!r} in sys.path else [{str(HERE)!r}]
import kernel
kernel.begin("NAME", "DATA")"""


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def numbers(notebook: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Each cell of prose with a number in it and the expression that this states.

    They stand in the cell's metadata.
    """
    for cell in notebook["cells"]:
        for said, expression in cell["metadata"].get("numbers", {}).items():
            yield cell, said, expression


@contextlib.contextmanager
def jupyter() -> Iterator[NotebookClient]:
    """A kernel for any number of notebooks, which saves the imports."""
    from nbclient import NotebookClient
    from nbformat.v4 import new_notebook
    from traitlets.config import Config

    # The sums of several threads are rounded in another order: other noise is drawn.
    pinned = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    # No port is opened, and two kernels that run at once have different sockets.
    with tempfile.TemporaryDirectory() as sockets:
        local = {"transport": "ipc", "ip": f"{sockets}/kernel"}
        config = Config({"KernelManager": local})
        client = NotebookClient(
            new_notebook(), timeout=None, config=config, record_timing=False
        )
        with client.setup_kernel(env=os.environ | pinned | {"MPLBACKEND": INLINE}):
            yield client


def run(
    path: Path, client: NotebookClient, data: Path
) -> tuple[dict[str, Any], dict[str, float]]:
    """A notebook with what its cells show now, and the values of its numbers."""
    import nbformat

    notebook = client.nb = nbformat.read(path, as_version=4)
    cells = notebook.cells
    stated = sorted({expression for _, _, expression in numbers(notebook)})
    values = ", ".join(f"{each!r}: float({each})" for each in stated)
    after = f"import json as _json; print(_json.dumps({{{values}}}))"
    begin = BEFORE.replace("NAME", path.stem).replace("DATA", str(data))
    before, last = map(nbformat.v4.new_code_cell, (begin, after))
    notebook.cells = [before, *cells, last]
    client.reset_execution_trackers()
    for index, cell in enumerate(notebook.cells):
        client.execute_cell(cell, index)
    notebook.cells = cells
    for number, cell in enumerate(code_cells(notebook), 1):
        cell["execution_count"] = number
        cell["outputs"] = _joined(cell["outputs"])
        for output in cell["outputs"]:
            if "data" in output:
                output["metadata"] = {}
            if "execution_count" in output:
                output["execution_count"] = number
    return notebook, json.loads(last["outputs"][0]["text"])


def _joined(outputs: list[dict]) -> list[dict]:
    """Each stream in one piece, warnings first, however they came from the kernel.

    The kernel sends its two streams apart: which arrives first differs between runs.
    """
    streams: dict[str, dict] = {}
    for output in outputs:
        if name := output.get("name"):
            output["text"] = streams.get(name, {"text": ""})["text"] + output["text"]
            streams[name] = output
    others = [output for output in outputs if "name" not in output]
    return [*(streams[name] for name in sorted(streams)), *others]


def differing(stored: dict[str, Any], ran: dict[str, Any], values: dict) -> list[str]:
    """Where the prose or the stored outputs of a notebook are not near a run.

    What a cell shows of which the metadata say ``varies`` comes from the documentation
    of the installed versions of libraries, or from noise that is continuous and differs
    with how a processor rounds.
    """
    off = []
    for cell, said, expression in numbers(stored):
        prose = "".join(cell["source"])
        there = re.search(rf"(?<![\d.]){re.escape(said)}(?![\d]|\.\d)", prose)
        unit = 10.0 ** -len(said.partition(".")[2])
        if there is None or abs(float(said) - values[expression]) > 2.001 * unit:
            off.append(
                f"the prose says {said}, {expression} is {values[expression]:.4g}"
            )
    both = zip(code_cells(stored), code_cells(ran), strict=True)
    for number, (cell, now) in enumerate(both, 1):
        want, got = ([_text(output) for output in c["outputs"]] for c in (cell, now))
        same = len(want) == len(got)
        if same and not cell["metadata"].get("varies"):
            same = want == list(map(near.numbers, want, got))
        if not same:
            off.append(f"code cell {number} shows {got}, stored are {want}")
    return off


def _text(output: dict[str, Any]) -> str:
    """What an output says, a figure nothing."""
    data = output.get("data", {})
    html = re.sub(r"<style.*?</style>|<[^>]+>", " ", "".join(data.get("text/html", "")))
    return html or "".join(data.get("text/plain", output.get("text", "")))


# -- Pages ---------------------------------------------------------------------------


def write(app: object = None) -> None:
    """A page for each notebook, for myst-nb; for ``builder-inited``."""
    FOLDER.mkdir(exist_ok=True)
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        notebook = json.loads(path.read_text("utf-8"))
        outputs = [
            output for cell in code_cells(notebook) for output in cell["outputs"]
        ]
        pngs = [
            png for each in outputs if (png := each.get("data", {}).get("image/png"))
        ]
        for number, png in enumerate(pngs, 1):  # for the list of them
            (FOLDER / f"{path.stem}_{number}.png").write_bytes(base64.b64decode(png))
        page = json.dumps(as_page(notebook, path.stem))
        api_pages.write(FOLDER / path.name, page)
    for made in FOLDER.glob("*.ipynb"):  # of a notebook that is gone
        if not (EXAMPLES / made.name).exists():
            made.unlink()


def using() -> dict[str, list[str]]:
    """The notebooks whose code has a word, for the page of a public name."""
    found: dict[str, list[str]] = {}
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        cells = code_cells(json.loads(path.read_text("utf-8")))
        code = "".join("".join(cell["source"]) for cell in cells)
        for word in sorted(set(re.findall(r"\w+", code))):
            found.setdefault(word, []).append(path.stem)
    return found


def as_page(notebook: dict[str, Any], name: str) -> dict[str, Any]:
    """The notebook with links within the site, folded code, and figures in words.

    The first figure is shown next to the answer.
    """
    link = f"{{download}}`{name}.ipynb <../../examples/{name}.ipynb>`"
    notebook["cells"][0]["source"].append(f"\n\nDownload the notebook: {link}.")
    for cell in notebook["cells"]:
        source, metadata = "".join(cell["source"]), cell["metadata"]
        if cell["cell_type"] == "markdown":
            for kind in ("notebooks", r"\w+"):
                within = rf"{re.escape(SITE)}/({kind}/\w+)\.html"
                suffix = ".ipynb" if kind == "notebooks" else ".rst"
                source = re.sub(within, rf"/\1{suffix}", source)
            cell["source"] = source
        if metadata.get("jupyter", {}).get("source_hidden"):
            metadata["tags"] = ["hide-input"]
        title = re.search(r"(?:suptitle\(|title=)\s*f?\"(.+?)\"", source)
        if title:
            metadata["mystnb"] = {"image": {"alt": title[1]}}
    answer = notebook["cells"][1]
    if "".join(answer["source"]).startswith("## The answer"):
        answer["source"] += f"\n\n![{_lift(notebook)}]({name}_1.png)"
    return notebook


def _lift(notebook: dict[str, Any]) -> str:
    """Take the first figure away from where it is drawn; what it shows."""
    for cell in code_cells(notebook):
        for output in cell["outputs"]:
            if "image/png" in output.get("data", {}):
                cell["outputs"].remove(output)
                return cell["metadata"]["mystnb"]["image"]["alt"]
    raise ValueError("an answer needs a figure")


def main(wanted: list[str]) -> None:
    data = Path(os.environ.get("SKDPTEXT_DATA", HERE.parents[1] / "shared" / "data"))
    import nbformat

    off = []
    with jupyter() as client:
        for path in map(Path, wanted or sorted(EXAMPLES.glob("*.ipynb"))):
            print("==", path, flush=True)
            notebook, values = run(path, client, data.resolve())
            nbformat.write(notebook, path)
            off += [f"{path}: {each}" for each in differing(notebook, notebook, values)]
    if off:
        raise SystemExit("\n".join(["The prose differs from the run:", *off]))


if __name__ == "__main__":
    main(sys.argv[1:])
