"""One release, its documents, and the hash that every engine must come to."""

from __future__ import annotations

import hashlib
import os
import re
import textwrap
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import dataset, parquet
from sklearn.base import clone

from skdptext import DPDocumentReplacer
from skdptext.release import DocumentRelease, ReleaseKey, release_files
from tests.release.conftest import *  # noqa: F403
from tests.releases import secrets_of

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "large_files.rst"


@pytest.fixture(scope="session")
def release(make_release):
    """Of texts of 4 words."""
    return make_release()


@pytest.fixture(scope="session")
def expected(release, documents):
    return digest(release(documents))


def digest(table):
    """Of ids and words; which rows, and in which order, engines are free in."""
    rows = sorted(repr(sorted(row.items())) for row in table.to_pylist())
    assert len(rows) == 300
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def files_with_the_key(release, *folders):
    """Files that hold the key or the seed derived from it, as bytes or as digits."""
    forms, holders = secrets_of(release), []
    for folder in folders:
        for path in Path(folder).rglob("*"):
            if path.is_file() and os.access(path, os.R_OK):
                held = path.read_bytes()
                if any(form in held for form in forms):
                    holders.append(path)
    return holders


def run_page(sign, **names):
    """Run the page's blocks of code that hold these words; the names they set."""
    blocks = re.findall(
        r"^\.\. code-block:: python\n\n((?:   .*\n|\n)+)", PAGE.read_text("utf-8"), re.M
    )
    (block,) = (block for block in blocks if sign in block)
    exec(compile(textwrap.dedent(block), f"large_files.rst, {sign}", "exec"), names)
    return names


def check_page(block, release, documents, source, folder, **engine):
    """Run a block of the page: texts and bags come out as in one process."""
    for output in ("text", "bow"):
        releaser = clone(release.releaser).set_params(output=output)
        made, out = DocumentRelease(releaser, release.key, "page"), folder / output
        run_page(block, release=made, source=str(source), out=str(out), **engine)
        assert digest(dataset.dataset(out).to_table()) == digest(made(documents))


@pytest.fixture(scope="session")
def by_person(documents, key_file, tmp_path_factory):
    """A release of stand-ins, a file with 100 authors, and what one process makes."""
    folder = tmp_path_factory.mktemp("persons")
    public = [f"word{i} public" for i in range(60)]
    replacer = DPDocumentReplacer(public, epsilon=2.0, n_groups=4)
    key = ReleaseKey(f"file:{key_file}")
    release = DocumentRelease(replacer.fit(), key, "persons", author="author")
    authors = pa.array([f"person {i % 100}" for i in range(300)])
    source = folder / "in.parquet"
    parquet.write_table(documents.append_column("author", authors), source)
    release_files(source, folder / "out", release)
    return release, str(source), released(folder / "out")


def released(folder):
    """Of the files of a release, or of several."""
    files = sorted(Path(folder).rglob("part-*.parquet"))
    return digest(pa.concat_tables(map(parquet.read_table, files)))


def check_page_with_authors(block, by_person, folder, **engine):
    """Run a block of the page: people come out together as by one process."""
    release, source, want = by_person
    places = {"source": source, "by_author": str(folder / "parts")}
    (out := folder / "out").mkdir()
    run_page(block, release=release, n_parts=4, out=str(out), **places, **engine)
    assert released(out) == want
