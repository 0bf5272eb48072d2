"""The notebooks: run with their outputs stored, and shown as pages of the site.

``python docs/notebooks.py`` runs those of ``examples`` from top to bottom, on the data
in the folder that ``SKDPTEXT_DATA`` names or in ``../shared/data``, and stores what
each cell shows. Neither that nor the pages need Jupyter.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import html
import io
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import held_out  # noqa: E402

EXAMPLES = HERE.parent / "examples"
FOLDER = HERE / "notebooks"


def run(path: Path) -> dict[str, Any]:
    """Run the cells of a notebook, and store what they show; the names they made."""
    notebook = json.loads(path.read_text("utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    with held_out.watched():
        for number, cell in enumerate(code, 1):
            cell["execution_count"] = number
            cell["outputs"] = _run_cell("".join(cell["source"]), names, number)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return names


def differing(notebook: dict[str, Any], names: dict[str, Any]) -> list[str]:
    """Numbers of the prose that are more than two of their last digit off the run.

    A cell of prose has them in its metadata, each with the expression that it states.
    """
    off = []
    for cell in notebook["cells"]:
        for said, expression in cell["metadata"].get("numbers", {}).items():
            there = re.search(rf"(?<![\d.]){re.escape(said)}(?![\d]|\.\d)",
                              "".join(cell["source"]))  # fmt: skip
            value = float(eval(expression, dict(names)))
            unit = 10.0 ** -len(said.partition(".")[2])
            if there is None or abs(float(said) - value) > 2.001 * unit:
                off.append(f"{said}: {expression} is {value:.4g}")
    return off


def _run_cell(source: str, names: dict[str, Any], number: int) -> list[dict]:
    tree = ast.parse(source)
    shows = bool(tree.body) and isinstance(tree.body[-1], ast.Expr)
    last: Any = tree.body.pop() if shows else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs: list[dict] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        outputs.append(
            {
                "output_type": "execute_result",
                "execution_count": number,
                "metadata": {},
                "data": _shown(value),
            }
        )
    return outputs


def _shown(value: Any) -> dict[str, Any]:
    """What Jupyter would show of the last value of a cell."""
    data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "savefig"):
        out = io.BytesIO()
        value.savefig(out, format="png", dpi=110, metadata={"Software": None})
        data["image/png"] = base64.b64encode(out.getvalue()).decode()
    elif callable(getattr(value, "_repr_html_", None)):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return data


def write(app: object = None) -> None:
    """A page for each notebook, from its stored outputs; for ``builder-inited``."""
    FOLDER.mkdir(exist_ok=True)
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        page = FOLDER / f"{path.stem}.rst"
        text = as_rst(json.loads(path.read_text("utf-8")), path.name)
        if not page.exists() or page.read_text("utf-8") != text:
            page.write_text(text, encoding="utf-8")


def as_rst(notebook: dict[str, Any], name: str) -> str:
    """reStructuredText of a notebook: prose, code, and what the cells showed."""
    out: list[str] = []
    for i, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            out += [_prose(source), ""]
            if i == 0:
                link = f":download:`{name} <../../examples/{name}>`"
                out += [f"Download the notebook: {link}.", ""]
            continue
        out += [".. code-block:: python", "", _indented(source), ""]
        for output in cell["outputs"]:
            data = output.get("data", {})
            if output["output_type"] == "stream":
                kind, shown = ".. code-block:: text", "".join(output["text"])
            elif "image/png" in data:
                png = data["image/png"]
                kind = ".. raw:: html"
                title = re.search(r"suptitle\(\s*\"(.+?)\"", source)
                alt = html.escape(title[1] if title else "Figure")
                shown = f'<img alt="{alt}" src="data:image/png;base64,{png}">'
            elif "text/html" in data:
                kind, shown = ".. raw:: html", "".join(data["text/html"])
            else:
                kind, shown = ".. code-block:: text", "".join(data["text/plain"])
            out += [kind, "", _indented(shown), ""]
    return "\n".join(out)


def _indented(text: str) -> str:
    return "\n".join(f"   {line}".rstrip() for line in text.splitlines())


def _prose(markdown: str) -> str:
    """Headings, code, bold and links, which is all the Markdown that notebooks use."""
    lines = []
    for line in re.sub(r"`([^`]+)`", r"``\1``", markdown).splitlines():
        text = re.sub(r"\[([^\]]+)\]\((https?://[^)\s]+)\)", r"`\1 <\2>`__", line)
        heading = re.match(r"(#{1,2}) (.+)", text)
        if heading:
            lines += ["", heading[2], "=-"[len(heading[1]) - 1] * len(heading[2]), ""]
        else:
            lines.append(text)
    return "\n".join(lines).strip()


if __name__ == "__main__":
    import matplotlib as mpl
    import palette

    mpl.use("Agg")
    palette.use()
    data = HERE.parents[1] / "shared" / "data"
    os.environ.setdefault("SKDPTEXT_DATA", str(data))
    for wanted in sys.argv[1:] or sorted(map(str, EXAMPLES.glob("*.ipynb"))):
        print("==", wanted, flush=True)
        names = run(Path(wanted))
        off = differing(json.loads(Path(wanted).read_text("utf-8")), names)
        if off:
            raise SystemExit("\n".join(["The prose differs from the run:", *off]))
