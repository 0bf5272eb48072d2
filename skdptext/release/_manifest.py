"""What a release says of itself: enough to recognise it, and nothing secret."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from itertools import islice
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType
from typing import Any

from sklearn.base import BaseEstimator

from skdptext._version import __version__
from skdptext.exceptions import InvalidParameterError
from skdptext.files import FORMATS
from skdptext.release._key import check_value
from skdptext.utils import replacing

FILE_NAME = "_release.json"
FORMAT = "skdptext release, version 1"

_PACKAGES = ("numpy", "randomgen", "scikit-learn", "pyarrow")

# The same whatever the documents are: a number of them would tell something.
_SHARED = (
    "Public texts may be among the documents to be released: the maker of the release "
    "has accepted that (allow_shared_texts), and that all of these are public is taken "
    "on trust. Whatever of them was not public is published, and nothing below holds "
    "for it."
)


def named_by(author: str) -> str:
    """What a release voids that keeps its column of authors."""
    return (
        f"The column {author!r}, which the release keeps, says who wrote each "
        "document. Only what each person mostly wrote about is hidden."
    )


def describe(release: Any) -> dict[str, Any]:
    """`DocumentRelease.manifest`."""
    perturber = release.perturber
    details = perturber.release_details()
    of_persons = release.author is not None
    guarantee = perturber.guarantee(**({"unit": "person"} if of_persons else {}))
    if release.allow_shared_texts and hasattr(guarantee, "with_caveat"):
        guarantee = guarantee.with_caveat(_SHARED)
    if of_persons and release.author in release.keep:
        guarantee = guarantee.with_caveat(named_by(release.author))
    stated = ("unit", "epsilon", "metric", "metric_lam", "n_words", "numerical_delta")
    return {
        "format": FORMAT,
        "complete": False,
        "name": release.name,
        "output": perturber.output,
        **{name: _plain(value) for name, value in details.items()},
        "columns": {
            "id": release.id,
            "text": release.text,
            # only where it is so: releases begun before go on
            **({"author": release.author} if of_persons else {}),
            "keep": {
                name: None if kind is None else str(kind)
                for name, kind in release.keep.items()
            },
        },
        "guarantee": {
            **told_by(guarantee),
            **{n: getattr(guarantee, n) for n in stated if hasattr(guarantee, n)},
            "released_as_they_are": [release.id, *release.keep],
            "computational": (
                "The noise is drawn from a secret key of 256 bits. Anyone who has the "
                "key can undo it; anyone who can have documents released "
                "under this key, name and ids can confirm guesses. Against everyone "
                "else the promise holds as long as BLAKE2b and ChaCha20 cannot be told "
                "from random bits. Computing the release again under this key and name "
                "costs no more privacy."
            ),
        },
        **({"allow_shared_texts": True} if release.allow_shared_texts else {}),
        "key_check": check_value(release.key, release.name),
        "canary": release.canary,
        "versions": versions(),
    }


def told_by(guarantee: Any) -> dict[str, Any]:
    """What a guarantee says of itself, to a reader of the file that stores it.

    One of a user's own need not say more than its `str`.
    """
    methods = {"details": "details", "scale": "scale", "stored": "to_json"}
    told = {
        name: _plain(getattr(guarantee, method)())
        for name, method in methods.items()
        if hasattr(guarantee, method)
    }
    # nobody calls a method of a file: the details stand beside these words
    words = str(guarantee).replace("details() has", '"details" has', 1)
    stored = {"stored": json.loads(told["stored"])} if "stored" in told else {}
    return {"words": words} | told | stored


def versions() -> dict[str, str]:
    """Versions of all that may change a word or a byte."""
    installed = {"skdptext": __version__}
    installed["python"] = ".".join(platform.python_version_tuple()[:2])
    return installed | {name: _version(name) for name in _PACKAGES}


_version = cache(metadata.version)  # which reads and parses a file


def _estimator(estimator: Any) -> dict[str, Any]:
    """Its class, and its options if it is ours: those of others may hold secrets."""
    options = estimator.get_params(deep=False)
    described: dict[str, Any] = {"name": type(estimator).__name__}
    if _root(type(estimator)) == "skdptext":
        plain = {name: _plain(value) for name, value in options.items()}
        return described | {"options": plain}
    parts = [_estimator(part) for part in _estimators_in(options)]
    return described | ({"parts": parts} if parts else {})


def _estimators_in(value: Any) -> Iterator[Any]:
    if isinstance(value, BaseEstimator):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        within = value.values() if isinstance(value, Mapping) else value
        for item in within:
            yield from _estimators_in(item)


def _root(kind: type) -> str:
    return kind.__module__.partition(".")[0]


# What is of other classes is named only: an object of a user's may be a dict, too.
_PLAIN_ROOTS = ("builtins", "collections", "numpy", "skdptext")
_NAMED = (type, FunctionType, BuiltinFunctionType, MethodType, MethodDescriptorType)


def _plain(value: Any) -> Any:
    """A value as JSON holds it; the name of its type if JSON cannot hold it."""
    if isinstance(value, BaseEstimator):
        return _estimator(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    if value is None or isinstance(value, bool | int | float):
        return value
    if _root(type(value)) in _PLAIN_ROOTS:
        if isinstance(value, str):
            return value
        if isinstance(value, Mapping):
            return {str(key): _plain(item) for key, item in value.items()}
        if isinstance(value, set | frozenset):
            return sorted(map(str, value))
        if isinstance(value, list | tuple):
            return [_plain(item) for item in value]
    kind = value if isinstance(value, _NAMED) else type(value)
    module = getattr(kind, "__module__", None) or type(kind).__module__
    return f"{module}.{kind.__qualname__}"


def write_manifest(out: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest in one step."""
    text = json.dumps(manifest, indent=1, ensure_ascii=False, allow_nan=False)
    with replacing(out / FILE_NAME) as file:
        file.write(text.encode() + b"\n")


def read_manifest(out: Any) -> dict[str, Any]:
    """The manifest of a folder."""
    path = Path(out) / FILE_NAME
    try:
        manifest = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        got = f"there is no release in {str(out)!r}: no {FILE_NAME}"
        if not path.parent.exists():
            got = f"there is no folder {str(out)!r}"
        raise InvalidParameterError(
            f"out must be the folder of a release, but {got}."
        ) from None
    except (IsADirectoryError, ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InvalidParameterError(
            f"out must hold a {FILE_NAME} of format {FORMAT!r}, got {str(path)!r}, "
            "which is not one."
        )
    damaged = _damaged(manifest)
    if damaged:
        raise InvalidParameterError(
            f"out must hold a {FILE_NAME} as release_files wrote it, got "
            f"{str(path)!r}, in which these are missing or damaged: "
            f"{', '.join(damaged)}."
        )
    return manifest


# The fields that are read later on, with their types, and those that are not "stated":
# what "follows" from others is told only where nothing stated differs, and what is
# "free" may differ. Whatever else a release says of itself is stated.
_SCHEMA: dict[str, tuple[Any, str]] = {
    "complete": (bool, "free"),
    "shards": (object, "free"),
    "guarantee": ({"words": str}, "free"),  # its last digits depend on the machine
    "output": (str, "stated"),
    "columns": ({"id": str}, "stated"),
    "shard_format": (str, "stated"),
    "batch_rows": (int, "stated"),
    "key_check": (object, "follows"),
    "inputs": ([{"name": str, "rows": [int]}], "follows"),
    "documents": (int, "follows"),
    "noise_fingerprint": (object, "follows"),
    "canary": (object, "follows"),
}


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value of JSON is of a type; an int is a count."""
    if isinstance(kind, dict):
        return isinstance(value, dict) and all(
            _fits(value.get(name), part) for name, part in kind.items()
        )
    if isinstance(kind, list):
        return isinstance(value, list) and all(_fits(part, kind[0]) for part in value)
    return kind is object or (type(value) is kind and (kind is not int or value >= 0))


def _damaged(manifest: dict[str, Any]) -> list[str]:
    types = {name: kind for name, (kind, _) in _SCHEMA.items()}
    of = ("public", "documents") if "public" in manifest else ("embedding", "words")
    types[of[0]] = {of[1]: int}
    types |= {"shards": dict} if manifest.get("complete") else {}
    damaged = [n for n, kind in types.items() if not _fits(manifest.get(n), kind)]
    if damaged:
        return damaged
    n_rows = sum(sum(place["rows"]) for place in manifest["inputs"])
    rules = {
        "shard_format": manifest["shard_format"] in FORMATS,
        "batch_rows": manifest["batch_rows"] > 0,
        "documents": manifest["documents"] == n_rows,
    }
    return [name for name, holds in rules.items() if not holds]


# An error shows so many differences of one field, such as the names of columns.
_MOST_CHANGES = 5


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """In what two releases differ; nothing if they are the same."""
    roles = {
        name: _SCHEMA.get(name, (object, "stated"))[1]
        for name in {**_SCHEMA, **there, **here}
        if there.get(name) != here.get(name)
    }
    names = [name for name, role in roles.items() if role != "free"]
    causes = [name for name in names if roles[name] == "stated"] or names[:1]
    return [_told(name, there.get(name), here.get(name)) for name in causes]


def _told(name: str, old: Any, new: Any) -> str:
    if name == "key_check":
        return "it was begun with another key, and cannot be continued without it"
    if name == "inputs":
        return "its inputs are different ones, or have changed"
    return "; ".join(islice(_changes(name, old, new), _MOST_CHANGES))


def _changes(name: str, old: Any, new: Any) -> Iterator[str]:
    if not (isinstance(old, dict) and isinstance(new, dict)):
        yield f"{name} is {_short(old)} there, got {_short(new)}"
        return
    for key in {**old, **new}:
        if key not in new:
            yield f"{name} has {_short(key)} there, and not here"
        elif key not in old:
            yield f"{name} has {_short(key)} here, and not there"
        elif old[key] != new[key]:
            yield from _changes(f"{name}.{_clipped(str(key))}", old[key], new[key])


def _short(value: Any) -> str:
    return _clipped(repr(value))


def _clipped(text: str) -> str:
    return text if len(text) <= 200 else text[:200] + "…"
