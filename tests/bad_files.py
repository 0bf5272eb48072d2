"""Files of private documents that cannot be read as they are, for `test_canary.py`.

**A new format?** Add its ending to `FAULTS`, or for word vectors to `VECTORS`: the
canary fails for an ending that the library reads and that is not here.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable

import pyarrow as pa
from pyarrow import parquet


def _lines(*rows: object) -> bytes:
    return b"".join(
        (row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n"
        for row in rows
    )


def _columns(**columns: object) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns), buffer)
    return buffer.getvalue()


def csv_faults(text: str) -> dict[str, bytes]:
    """Each with a column of texts, `text`, but for one that has none."""
    good = "id,text,n\n1,w0 w1,3\n"
    faults = {
        "comma without quotes": f"{good}2,{text}, and {text},4\n",
        "value missing": f"{good}2,{text}\n",
        "no header": f"2,{text},4\n3,{text} again,5\n",
        "no header, one row": f"2,{text},4",
        "quote not closed": f'{good}2,"{text},4\n3,w0,4\n',
        "quote not doubled": f'{good}2,"{text} "said" he",4\n',
        "no number": f"{good}2,w0,{text}\n",
        "id twice": f"{good}{text},w0,1\n{text},w1,1\n",
        "no id": f"{good},{text},1\n",
        "another separator": f"id;text;n\n2;{text};1\n",
        "row too long": f"{good}2,{text * 20_000},1\n",
        "nul": f"{good}2,{text}\0,x{text}\n",
        "names twice": f"id,text,text\n2,{text},1\n",
        "names private": f"id,{text},{text}\n2,w0,1\n",
    }
    contents = {name: fault.encode() for name, fault in faults.items()}
    contents["not UTF-8"] = f"{good}2,{text} café,1\n".encode("latin-1")
    contents["UTF-16"] = f"{good}2,{text},1\n".encode("utf-16")
    return contents


def json_faults(text: str) -> dict[str, bytes]:
    good = {"id": "1", "text": "w0 w1", "n": 3}
    deep = b'{"id": "2", "text": "%s", "n": %s%s}'
    private = text.encode()
    return {
        "not JSON": _lines(good, private),
        "not closed": _lines(good, b'{"id": "2", "text": "%s' % private),
        "single quotes": _lines(good, str({"id": "2", "text": text}).encode()),
        "an array": _lines(good, [text]),
        "a string": _lines(good, text),
        "other names": _lines({text: 1}, {text: 2}),
        "name twice": _lines(good, b'{"%s": 1, "%s": 2}' % (private, private)),
        "text a list": _lines({**good, "text": [text]}),
        "text an object": _lines({**good, "text": {text: text}}),
        "text late a number": _lines({**good, "text": text}, {**good, "text": 7}),
        "text late a list": _lines(good, {**good, "text": [text]}),
        "id an object": _lines({**good, "id": {text: 1}}),
        "id late a text": _lines({**good, "id": 1}, {**good, "id": text}),
        "id twice": _lines({**good, "id": text}, {**good, "id": text}),
        "no number": _lines(good, {**good, "id": "2", "n": text}),
        "n an object": _lines({**good, "n": {text: 1}}, {**good, "n": 3, "id": "2"}),
        "n objects": _lines({**good, "n": {text: 1}}),
        "n a list": _lines({**good, "n": [text, 3]}),
        "nested deep": _lines(
            good, deep % (private, b"[" * 100_000, b"]" * 100_000)
        ),
        "nested deep, not closed": _lines(good, deep % (private, b"[" * 100_000, b"")),
        "NaN": _lines(good, b'{"id": "2", "text": "%s", "n": NaN}' % private),
        "half a surrogate pair": _lines(good, {"id": "2", "text": text + "\ud800"}),
        "not UTF-8": _lines(good, b'{"id": "2", "text": "%s \xe9"}' % private),
        "row too long": _lines(good, {"id": "2", "text": text * 20_000}),
    }  # fmt: skip


def parquet_faults(text: str) -> dict[str, bytes]:
    whole = _columns(id=["1", "2"], text=[text, text], n=[1, 2])
    middle = len(whole) // 3
    return {
        "no Parquet": f"id,text\n1,{text}\n".encode(),
        "cut short": whole[: 2 * middle],
        "bytes changed": whole[:40] + b"\xff" * 40 + whole[80:],
        "footer changed": whole[:-40] + b"\xff" * 20 + whole[-20:],
        "other names": _columns(**{text: [1], "id": [text]}),
        "text of numbers": _columns(id=[text], text=[1.5], n=[1]),
        "text of structs": _columns(id=["1"], text=[{text: text}], n=[1]),
        "text of bytes": _columns(id=["1"], text=[text.encode()], n=[1]),
        "id of structs": _columns(id=[{text: text}], text=["w0"], n=[1]),
        "id twice": _columns(id=[text, text], text=["w0", "w1"], n=[1, 2]),
        "n of texts": _columns(id=["1"], text=["w0"], n=[text]),
        "n of structs": _columns(id=["1"], text=["w0"], n=[{text: text}]),
        "n of maps": _columns(
            id=["1"],
            text=["w0"],
            n=pa.array([[(text, text)]], pa.map_(pa.string(), pa.string())),
        ),
    }


def vector_faults(text: str) -> dict[str, bytes]:
    """Private files given where word vectors belong."""
    return {
        "documents": f"{text}\n{text}\n".encode(),
        "a table": f"id,text\n1,{text}\n".encode(),
        "words of documents": f"{text.split()[0]} 1 2\n{text}\n".encode(),
        "a word twice": "".join(f"{text.split()[0]} 1 2\n" for _ in "ab").encode(),
        "header": f"2 2\n{text.split()[0]} 1 2\n{text} x y\n".encode(),
        "not UTF-8": f"{text.split()[0]}é 1 2\n{text}é 1 2\n".encode("latin-1"),
        "not finite": f"{text.split()[0]} 1 inf\n".encode(),
    }


Faults = Callable[[str], dict[str, bytes]]


def _packed(faults: Faults) -> Faults:
    def pack(text: str) -> dict[str, bytes]:
        packed = {name: gzip.compress(raw, 1) for name, raw in faults(text).items()}
        whole = gzip.compress(text.encode() * 100)
        not_packed = next(iter(faults(text).values()))
        return {**packed, "cut short": whole[:-8], "not packed": not_packed}

    return pack


FAULTS: dict[str, Faults] = {
    ".csv": csv_faults,
    ".jsonl": json_faults,
    ".ndjson": json_faults,
    ".parquet": parquet_faults,
    ".csv.gz": _packed(csv_faults),
    ".jsonl.gz": _packed(json_faults),
    ".ndjson.gz": _packed(json_faults),
}

VECTORS: dict[str, Faults] = {
    ".txt": vector_faults,
    ".vec": vector_faults,
    ".bin": vector_faults,
    ".npz": vector_faults,
    ".txt.gz": _packed(vector_faults),
    ".vec.gz": _packed(vector_faults),
    ".bin.gz": _packed(vector_faults),
}
