"""Neighbours without labels, the regressor, graphs, and what takes graphs."""

from __future__ import annotations

import os
import pickle
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from sklearn.cluster import DBSCAN, HDBSCAN, SpectralClustering
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.manifold import TSNE, Isomap
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    NearestNeighbors,
)
from sklearn.pipeline import make_pipeline

from skdptext import WordEmbedding
from skdptext.exceptions import EmptyDocumentWarning
from skdptext.metrics import pairwise_word_movers_distances
from skdptext.neighbors import (
    WMDKNNRegressor,
    WMDNeighbors,
    WMDNeighborsTransformer,
    _blocks,
)
from tests.expected import refused

N = 40  # documents of the corpus
N_WORDS = 7
GRID = WordEmbedding(
    [f"w{i}" for i in range(N_WORDS)],
    [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [0, 2], [2, 2]],
)


def brute(D, k):
    rows = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, rows, axis=1), rows


@pytest.fixture(scope="module")
def corpus(small_embedding):
    """Bags of two kinds of words, with copies, and which kind."""
    rng = np.random.default_rng(3)
    X = np.zeros((N, len(small_embedding)))
    y = np.arange(N) % 2
    for row, kind in zip(X, y, strict=True):
        np.add.at(row, 100 * kind + rng.integers(0, 100, 12), 1.0)
    X[24], X[25], X[26] = X[0], X[0], X[1]
    return X, y


@pytest.fixture(scope="module")
def all_distances(corpus, small_embedding):
    """Of all pairs of the corpus, which nothing may change."""
    D = pairwise_word_movers_distances(corpus[0], embedding=small_embedding)
    D.flags.writeable = False
    return D


# -- the same as brute force -------------------------------------------------------


@pytest.mark.no_cover
@settings(max_examples=30)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 9),
    st.integers(1, 9),
    st.sampled_from([0, 0.5, 1, 1.25, 2]),
)
@pytest.mark.parametrize("embedding", [GRID, "one-hot"], ids=["grid", "one-hot"])
def test_as_brute_force(embedding, seed, n, k, radius):
    """On a grid many distances tie, and a radius often is a distance."""
    rng = np.random.default_rng(seed)
    bags = rng.poisson(0.5, size=(n + 5, N_WORDS))
    bags[np.arange(n + 5), rng.integers(0, N_WORDS, n + 5)] += 1
    X, queries = bags[:n], bags[n:]
    model = WMDNeighbors(embedding, radius=radius).fit(X)
    for asked in (queries, None):
        D = pairwise_word_movers_distances(
            X if asked is None else asked, X, embedding=embedding
        )
        if asked is None:
            np.fill_diagonal(D, np.inf)
        n = min(k, len(X) - (asked is None))
        for got, want in zip(model.kneighbors(asked, n), brute(D, n), strict=True):
            assert np.array_equal(got, want)
        distances, rows = model.radius_neighbors(asked, sort_results=True)
        graph = model.radius_neighbors_graph(asked, mode="distance")
        for i, (d, r) in enumerate(zip(distances, rows, strict=True)):
            inside = np.flatnonzero(D[i] <= radius)
            order = np.argsort(D[i][inside], kind="stable")
            assert np.array_equal(r, inside[order])
            assert np.array_equal(d, D[i][r])
            part = slice(graph.indptr[i], graph.indptr[i + 1])
            assert np.array_equal(graph.indices[part], inside)
            assert np.array_equal(graph.data[part], D[i][inside])


@pytest.mark.no_cover
def test_as_scikit_learn_gives_them(corpus, small_embedding, all_distances):
    X, D = corpus[0], all_distances
    radius = float(np.quantile(D, 0.1))
    ours = WMDNeighbors(small_embedding, n_neighbors=4, radius=radius).fit(X)
    peer = NearestNeighbors(n_neighbors=4, radius=radius, metric="precomputed").fit(D)
    for mode in ("connectivity", "distance"):
        for asked, of_peer in ((None, None), (X[::7], D[::7])):
            for method in ("kneighbors_graph", "radius_neighbors_graph"):
                got = getattr(ours, method)(asked, mode=mode)
                want = getattr(peer, method)(of_peer, mode=mode)
                assert type(got) is type(want)
                # scikit-learn breaks ties between copies as it likes
                assert np.allclose(
                    np.sort(got.toarray(), axis=1), np.sort(want.toarray(), axis=1)
                )
    ragged, theirs = ours.radius_neighbors(X[:5]), peer.radius_neighbors(D[:5])
    for got, want in zip(ragged[1], theirs[1], strict=True):
        assert np.array_equal(got, want)
    alone = ours.radius_neighbors(X[:5], return_distance=False)
    assert alone.dtype == object
    assert alone.base is None  # the distances are not kept


def test_documents_without_words(corpus, small_embedding):
    X = corpus[0].copy()
    X[5] = 0
    with pytest.warns(EmptyDocumentWarning, match=r"1 of 40 .* rows \[5\]") as caught:
        model = WMDNeighbors(small_embedding, n_neighbors=2).fit(X)
    assert caught[0].filename == __file__
    rows = model.radius_neighbors(X[:1], radius=1e9, return_distance=False)[0]
    assert np.array_equal(rows, np.delete(np.arange(N), 5))
    assert model.kneighbors_graph(X[:4]).shape == (4, N)
    for ask in (model.radius_neighbors, model.radius_neighbors_graph):
        with refused(r"rows \[5\] of the matrix"):
            ask(radius=1.0)
        with refused(r"without any, in rows \[5\]"):
            ask(X, radius=1.0)
    with refused("Leave them out before: X = X"):
        model.kneighbors()


def test_refusals(corpus, small_embedding):
    X, _ = corpus

    with refused("radius must be a finite number >= 0, got -1"):
        WMDNeighbors(small_embedding, radius=-1).fit(X)
    model = WMDNeighbors(small_embedding).fit(X)
    with refused("radius must be given"):
        model.radius_neighbors(X)
    with refused("radius must be a finite number"):
        model.radius_neighbors(X, radius=np.nan)
    with refused("sort_results must be True or False"):
        model.radius_neighbors(X, radius=1, sort_results=1)
    with refused("mode must be one of"):
        model.radius_neighbors_graph(X, radius=1, mode="ones")
    with refused(r"documents with words \(40\), got 41"):
        model.set_params(n_neighbors=41).kneighbors(X)
    with refused("mode must be one of"):
        WMDNeighborsTransformer(small_embedding, mode="ones").fit(X)
    with refused("symmetric must be True or False"):
        WMDNeighborsTransformer(small_embedding, symmetric=1).fit(X)
    with refused(r"must be < the number .* with words \(n_samples=40\), got 40"):
        WMDNeighborsTransformer(small_embedding, n_neighbors=40).fit(X)
    ones = WMDNeighborsTransformer(small_embedding, n_neighbors=41, mode="connectivity")
    with refused(r"must be <= the number .* with words \(n_samples=40\), got 41"):
        ones.fit(X)
    with refused("Input X contains NaN"):
        WMDNeighbors(small_embedding).fit(np.full(X.shape, np.nan))
    with pytest.raises(NotFittedError):
        WMDNeighbors(small_embedding).radius_neighbors(X, radius=1)


# -- the regressor -------------------------------------------------------------------


def falling(distances):
    return 1 / (1 + distances)


@pytest.mark.no_cover
@pytest.mark.parametrize("weights", ["uniform", "distance", falling, None])
@pytest.mark.parametrize("n_outputs", [None, 1, 2])
def test_means_as_scikit_learn(
    corpus, small_embedding, all_distances, weights, n_outputs
):
    X, queries = corpus[0][:24], corpus[0][27:]
    y = np.random.default_rng(0).normal(size=(24, n_outputs) if n_outputs else 24)
    ours = WMDKNNRegressor(small_embedding, n_neighbors=3, weights=weights).fit(X, y)
    peer = KNeighborsRegressor(3, weights=weights, metric="precomputed")
    want = peer.fit(all_distances[:24, :24], y).predict(all_distances[27:, :24])
    got = ours.predict(queries)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, atol=1e-12)
    with pytest.warns(EmptyDocumentWarning, match="mean target"):
        empty = ours.predict(np.vstack([queries[:1], 0 * queries[:1]]))
    np.testing.assert_allclose(empty, [want[0], y.mean(axis=0)])
    again = pickle.loads(pickle.dumps(ours))
    assert np.array_equal(again.predict(queries), got)


# -- graphs for what comes next ------------------------------------------------------


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
@pytest.mark.parametrize("symmetric", [False, True])
def test_transformer(corpus, small_embedding, all_distances, mode, symmetric):
    X, _ = corpus
    step = WMDNeighborsTransformer(
        small_embedding, mode=mode, n_neighbors=3, symmetric=symmetric
    )
    graph = step.fit_transform(X)
    D = all_distances.copy()
    np.fill_diagonal(D, -1)  # itself first
    k = 4 if mode == "distance" else 3
    expected = np.zeros((N, N), dtype=bool)
    np.put_along_axis(expected, brute(D, k)[1], True, axis=1)
    np.fill_diagonal(D, 0)
    if symmetric:
        expected |= expected.T
        assert (np.diff(graph.indptr) > k).any()
    stored = sp.csr_matrix((np.ones(graph.nnz), graph.indices, graph.indptr))
    assert np.array_equal(stored.toarray() > 0, expected)
    for i in range(N):
        part = slice(graph.indptr[i], graph.indptr[i + 1])
        assert graph.indices[part][0] == i
        if mode == "distance":
            assert (np.diff(graph.data[part]) >= 0).all()
            assert np.array_equal(graph.data[part], D[i, graph.indices[part]])
        else:
            assert (graph.data[part] == 1).all()
    others = step.transform(X[:7])
    assert others.shape == (7, N)
    peer = KNeighborsTransformer(mode=mode, n_neighbors=3, metric="precomputed")
    assert (
        np.diff(others.indptr) == np.diff(peer.fit(D).transform(D[:7]).indptr)
    ).all()
    assert len(step.get_feature_names_out()) == N


def test_graph_with_documents_without_words(corpus, small_embedding):
    X = corpus[0][:20].copy()
    step = WMDNeighborsTransformer(small_embedding, n_neighbors=2)
    whole = step.fit_transform(np.delete(X, 4, axis=0)).toarray()
    X[4] = 0
    with pytest.warns(EmptyDocumentWarning, match=r"rows \[4\]"):
        graph = step.fit_transform(X)
    assert graph[4].indices.tolist() == [4]
    others = np.delete(np.arange(20), 4)
    assert np.array_equal(graph.toarray()[np.ix_(others, others)], whole)
    with pytest.warns(EmptyDocumentWarning, match="have no neighbours") as caught:
        rows = step.transform(X[3:6])
    assert caught[0].filename == __file__
    assert np.diff(rows.indptr).tolist() == [3, 0, 3]


def test_one_neighbour_of_ones_is_itself(corpus, small_embedding):
    step = WMDNeighborsTransformer(small_embedding, mode="connectivity", n_neighbors=1)
    assert np.array_equal(step.fit_transform(corpus[0]).toarray(), np.eye(N))


@pytest.fixture(scope="module")
def dense(corpus, small_embedding):
    """Distances of all pairs, by tf-idf weights."""
    X = TfidfTransformer(norm="l1").fit_transform(corpus[0])
    return pairwise_word_movers_distances(X, embedding=small_embedding)


@pytest.fixture(scope="module")
def step_of(small_embedding):
    def step(**options):
        weigh = TfidfTransformer(norm="l1")
        return make_pipeline(weigh, WMDNeighborsTransformer(small_embedding, **options))

    return step


@pytest.mark.no_cover
def test_clusters_are_those_of_all_distances(corpus, dense, step_of):
    near = float(np.quantile(dense[dense > 0], 0.02))
    whole = sp.csr_matrix((dense.ravel(), np.indices((N, N)).reshape(2, -1)))
    for options, clusterer in (
        ({"n_neighbors": 20}, DBSCAN(eps=near, min_samples=3, metric="precomputed")),
        (  # which takes no graph in parts, nor as many copies of a text
            {"n_neighbors": 26, "symmetric": True},
            HDBSCAN(min_cluster_size=4, metric="precomputed", copy=True),
        ),
    ):
        labels = make_pipeline(step_of(**options), clusterer).fit_predict(corpus[0])
        assert len(np.unique(labels)) >= 3
        assert np.array_equal(labels, clusterer.fit_predict(whole))


@pytest.mark.no_cover
@pytest.mark.parametrize("min_samples", [2, 3])
def test_clusters_of_a_radius_are_those_of_all_distances(
    corpus, dense, small_embedding, min_samples
):
    """The graph leaves each document out, also where copies lie at distance 0."""
    near = float(np.quantile(dense[dense > 0], 0.02))
    X = TfidfTransformer(norm="l1").fit_transform(corpus[0])
    model = WMDNeighbors(small_embedding).fit(X)
    graph = model.radius_neighbors_graph(radius=near, mode="distance")
    edges = graph.tocoo()
    assert (edges.row != edges.col).all()
    cluster = DBSCAN(eps=near, min_samples=min_samples, metric="precomputed")
    labels = cluster.fit_predict(graph)
    assert len(np.unique(labels)) >= 3
    assert np.array_equal(labels, cluster.fit_predict(dense))


@pytest.mark.no_cover
def test_spectral_clusters(corpus, step_of):
    X, y = corpus
    step = step_of(n_neighbors=8, symmetric=True, mode="connectivity")
    clusterer = SpectralClustering(2, affinity="precomputed", random_state=0)
    agree = (make_pipeline(step, clusterer).fit_predict(X) == y).mean()
    assert max(agree, 1 - agree) > 0.6


@pytest.mark.no_cover
def test_maps_are_those_of_all_distances(corpus, dense, step_of):
    graph = step_of(n_neighbors=20).fit_transform(corpus[0])
    tsne = TSNE(
        metric="precomputed", init="random", perplexity=6, max_iter=250, random_state=0
    )
    for chart in tsne, Isomap(n_neighbors=15, metric="precomputed"):
        positions = chart.fit_transform(graph)
        want = chart.fit_transform(dense)
        assert positions.shape == (N, 2)
        # which side is which is not said
        np.testing.assert_allclose(np.abs(positions), np.abs(want), rtol=0, atol=1e-3)


@pytest.mark.no_cover
def test_votes_are_those_of_all_distances(corpus, small_embedding, all_distances):
    X, y = corpus
    step = WMDNeighborsTransformer(small_embedding, n_neighbors=20)
    vote = make_pipeline(step, KNeighborsClassifier(5, metric="precomputed"))
    direct = KNeighborsClassifier(5, metric="precomputed").fit(
        np.zeros((27, 27)), y[:27]
    )
    assert np.array_equal(
        vote.fit(X[:27], y[:27]).predict(X[27:]),
        direct.predict(all_distances[27:, :27]),
    )


# -- long searches -------------------------------------------------------------------


@pytest.mark.parametrize("itself", [True, False])
def test_blocks_in_files(corpus, small_embedding, tmp_path, monkeypatch, itself):
    monkeypatch.setattr(_blocks, "BLOCK_SIZE", 8)
    X, _ = corpus
    model = WMDNeighbors(small_embedding, n_neighbors=3).fit(X)
    asked = None if itself else X[:30]
    want = model.kneighbors_graph(asked, mode="distance")

    done, search = [], _blocks._search

    def interrupted(*arguments):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(search(*arguments))
        return done[-1]

    monkeypatch.setattr(_blocks, "_search", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.kneighbors_graph(asked, mode="distance", folder=tmp_path)
    written = {path.name: path.stat().st_mtime_ns for path in tmp_path.glob("*.bin")}
    assert len(written) == 3
    monkeypatch.setattr(_blocks, "_search", search)
    model.set_params(n_jobs=2)
    again = model.kneighbors_graph(asked, mode="distance", folder=str(tmp_path))
    for part in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(again, part), getattr(want, part))
    for name, when in written.items():
        assert (tmp_path / name).stat().st_mtime_ns == when
    assert len(list(tmp_path.glob("*.bin"))) == (5 if itself else 4)
    assert not list(tmp_path.glob(".*"))
    with refused("folder must be empty or hold"):
        model.kneighbors_graph(asked, 2, folder=tmp_path)
    with refused("folder must be a str or a path"):
        model.kneighbors_graph(folder=3)
    with refused("folder must be a folder, or not"):
        model.kneighbors_graph(folder=tmp_path / "search.txt")
    with refused(r"got the file .*search\.txt"):
        model.kneighbors_graph(folder=tmp_path / "search.txt" / "inside")


def same(a, b):
    return all(
        np.array_equal(getattr(a, part), getattr(b, part))
        for part in ("data", "indices", "indptr")
    )


@pytest.fixture
def kept(corpus, small_embedding, tmp_path, monkeypatch):
    """A search whose blocks are files: what repeats it, and its graph."""
    monkeypatch.setattr(_blocks, "BLOCK_SIZE", 16)
    model = WMDNeighbors(small_embedding, n_neighbors=3).fit(corpus[0])

    def search(k=3):
        return model.kneighbors_graph(
            n_neighbors=k, mode="distance", folder=tmp_path / "graph"
        )

    return search, search(), sorted((tmp_path / "graph").glob("*.bin"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_the_owner_may_read_blocks(kept):
    _, _, files = kept
    for path in (*files, files[0].with_name("search.txt")):
        assert path.stat().st_mode & 0o777 == 0o600


DAMAGE = {
    "empty": lambda content, other: b"",
    "truncated": lambda content, other: content[:-1],
    "longer": lambda content, other: content + b"\0",
    "checksum": lambda content, other: b"\1" + content[1:],
    "distance": lambda content, other: content[:40] + b"\1" + content[41:],
    "row": lambda content, other: content[:-8] + b"\0" * 8,
    "halves": lambda content, other: content[:32] + content[:31:-1],
    "zeros": lambda content, other: bytes(len(content)),
    "another block": lambda content, other: other,
    "a zip file": lambda content, other: b"PK\3\4" + content[4:],
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_block_is_searched_again(kept, name):
    search, want, files = kept
    content, other = (path.read_bytes() for path in files[:2])
    damaged = DAMAGE[name](content, other)
    assert damaged != content
    files[0].write_bytes(damaged)
    assert same(search(), want)
    assert files[0].read_bytes() == content


def test_blocks_that_change_while_they_are_searched_are_named(kept, monkeypatch):
    search, _, files = kept
    own = _blocks._search

    def damaging(*arguments):
        found = own(*arguments)
        files[1].write_bytes(b"")
        return found

    files[1].unlink()
    monkeypatch.setattr(_blocks, "_search", damaging)
    with refused(f"{re.escape(str(files[1]))} was deleted or changed"):
        search()


def test_blocks_of_another_search_are_not_read(kept):
    search, want, files = kept
    with refused(r"as .*search\.txt says"):
        search(2)
    files[0].with_name("search.txt").unlink()
    fewer = search(2)
    assert fewer.nnz == want.nnz // 3 * 2
    # nor under the names of this one
    for mine, its in zip(files, sorted(set(files[0].parent.glob("*.bin")) - {*files}),
                         strict=True):  # fmt: skip
        its.replace(mine)
    files[0].with_name("search.txt").unlink()
    assert same(search(), want)


def test_equal_bytes_of_other_shapes_are_another_search(tmp_path):
    values = np.arange(8.0)
    X = np.eye(2)
    graphs = []
    for shape in ((2, 4), (4, 2)):
        vectors = values.reshape(shape)
        embedding = WordEmbedding([f"w{i}" for i in range(len(vectors))], vectors)
        rows = np.pad(X, [(0, 0), (0, len(vectors) - 2)])
        model = WMDNeighbors(embedding, n_neighbors=1).fit(rows)
        (tmp_path / "search.txt").unlink(missing_ok=True)
        graphs.append(model.kneighbors_graph(mode="distance", folder=tmp_path))
    assert graphs[0].data[0] > graphs[1].data[0] > 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
def test_what_is_no_file_is_refused(kept):
    search, _, files = kept
    for path in (files[0], files[0].with_name("search.txt")):
        content = path.read_bytes()
        for make in (os.mkfifo, os.mkdir):
            path.unlink()
            make(path)
            with refused(f"must hold files, but {re.escape(str(path))} is none"):
                search()
            path.rmdir() if path.is_dir() else path.unlink()
            path.write_bytes(content)


def test_whose_first_writer_was_stopped(kept):
    """It left a part of what says which search the folder is of."""
    search, want, files = kept
    says = files[0].with_name("search.txt")
    whole = says.read_bytes()
    for left in (b"", whole[:7]):
        says.write_bytes(left)
        assert same(search(), want)
        assert says.read_bytes() == whole
    says.write_bytes(whole + b"\n")
    with refused("got those of another search"):
        search()


def test_searches_that_race_for_a_folder(
    corpus, small_embedding, tmp_path, monkeypatch
):
    """All blocks are searched by two at once, and one of another search is refused."""
    monkeypatch.setattr(_blocks, "BLOCK_SIZE", 16)
    model = WMDNeighbors(small_embedding, n_neighbors=3).fit(corpus[0])
    together, own = threading.Barrier(2), _blocks._search
    refusals = []

    def both(*arguments):
        if together.wait(60) == 0:
            with refused("got those of another search"):
                model.kneighbors_graph(n_neighbors=2, folder=tmp_path)
            refusals.append(1)
        return own(*arguments)

    monkeypatch.setattr(_blocks, "_search", both)

    def search(_):
        return model.kneighbors_graph(mode="distance", folder=tmp_path)

    with ThreadPoolExecutor(2) as pool:
        graphs = list(pool.map(search, range(2)))
    want = model.kneighbors_graph(mode="distance")
    assert all(same(graph, want) for graph in graphs)
    assert len(refusals) == len(list(tmp_path.glob("*.bin"))) > 1


def test_blocks_in_processes(corpus, small_embedding, tmp_path, monkeypatch):
    """As on a cluster: joblib's Dask and Ray backends pickle the same calls."""
    monkeypatch.setattr(_blocks, "BLOCK_SIZE", 30)
    model = WMDNeighbors(small_embedding, n_neighbors=3).fit(corpus[0])
    with parallel_config(backend="multiprocessing", n_jobs=2):
        got = model.kneighbors_graph(mode="distance", folder=tmp_path)
    want = model.kneighbors_graph(mode="distance")
    assert np.array_equal(got.indices, want.indices)
    assert np.array_equal(got.data, want.data)
