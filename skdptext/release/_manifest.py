"""What a release says of itself: enough to recognise it, and nothing secret."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, MethodType
from typing import Any

from sklearn.base import BaseEstimator

from skdptext._version import __version__
from skdptext.exceptions import InvalidParameterError
from skdptext.privacy import PrivacyGuarantee
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
    if release.allow_shared_texts and isinstance(guarantee, PrivacyGuarantee):
        guarantee = guarantee.with_caveat(_SHARED)
    if of_persons and release.author in release.keep:
        guarantee = guarantee.with_caveat(named_by(release.author))
    stated = ("unit", "epsilon", "metric", "metric_lam", "n_words", "numerical_delta")
    return {
        "format": FORMAT,
        "name": release.name,
        "output": perturber.output,
        **{name: _plain(value) for name, value in details.items()},
        "columns": {
            "id": release.id,
            "text": release.text,
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
        "canary": release.canary,
        "versions": versions(),
    }


def told_by(guarantee: Any) -> dict[str, Any]:
    """What a guarantee says of itself, to a reader of the file that stores it.

    One of a user's own need not say more than its `str`.
    """
    told = {"words": str(guarantee)}
    if isinstance(guarantee, PrivacyGuarantee):
        told["rows"] = _plain(guarantee.rows())
        told["stored"] = json.loads(guarantee.to_json())
    return told


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
    files = manifest.get("files")
    if not isinstance(files, dict) or not all(
        isinstance(told, dict) and isinstance(told.get("digest"), str)
        for told in files.values()
    ):
        raise InvalidParameterError(
            f"out must hold a {FILE_NAME} as release_files wrote it, got "
            f"{str(path)!r}, whose files are missing or damaged."
        )
    return manifest
