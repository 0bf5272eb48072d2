"""polars, DuckDB and datasets: the same words, once or twice.

CI has polars, and runs its test; the others are for `make test-scale`.
"""

from __future__ import annotations

import pytest
from pyarrow import parquet

from tests.scale.conftest import check_page, digest, files_with_the_key, run_page


def test_polars_collects_and_joins_with_itself(
    release, documents, source, expected, tmp_path
):
    pl = pytest.importorskip("polars", reason="polars is not installed")
    schema = pl.from_arrow(release.schema.empty_table()).schema
    lazy = pl.scan_parquet(source).map_batches(
        lambda frame: pl.from_arrow(release(frame.to_arrow())), schema=schema
    )
    for _ in range(2):
        assert digest(lazy.collect().to_arrow()) == expected
    joined = lazy.join(lazy, on="id", suffix="_again").collect()
    assert (joined["text"] == joined["text_again"]).all()
    assert digest(joined.drop("text_again").to_arrow()) == expected
    check_page("import polars", release, documents, source, tmp_path)


@pytest.mark.scale
def test_duckdb_streams(release, documents, source, tmp_path):
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    check_page("import duckdb", release, documents, source, tmp_path)


@pytest.mark.scale
def test_datasets_keeps_the_texts_in_its_cache_but_no_key(
    release, source, expected, tmp_path, monkeypatch
):
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    cache = tmp_path / "cache"
    loaded = datasets.Dataset.from_parquet(str(source), cache_dir=str(cache))
    for size in (77, 300):
        mapped = loaded.with_format("arrow").map(release, batched=True, batch_size=size)
        assert digest(mapped[:]) == expected
    assert files_with_the_key(release, cache) == []
    first = parquet.read_table(source)["text"][0].as_py().encode()
    clear = [p for p in cache.rglob("*.arrow") if first in p.read_bytes()]
    assert clear, "the guide says that its cache holds the texts in plain text"
    out = tmp_path / "out.parquet"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", cache)
    run_page("import datasets", release=release, source=str(source), out=str(out))
    assert digest(parquet.read_table(out)) == expected
