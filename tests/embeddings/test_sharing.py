"""One table in memory, however many workers use it."""

from __future__ import annotations

import os

import numpy as np
import pytest
from gensim.models import FastText
from gensim.test.utils import common_texts
from joblib import Parallel, delayed

from skdptext import WordEmbedding


def described(one, same, subwords):
    """What a worker holds; the pickled fingerprints are computed again."""
    files = []
    for array in (one.vectors, subwords.vectors):
        with pytest.raises(ValueError, match="cannot set WRITEABLE"):
            array.flags.writeable = True
        while type(array) is np.ndarray:
            array = array.base
        files.append(isinstance(array, np.memmap) and str(array.filename))
    prints = [each.fingerprint for each in (one, subwords)]
    for each in (one, subwords):
        del vars(each)["fingerprint"]
        prints.append(each.fingerprint)
    told = (files[0], one is same, *prints, one.find(["W7"])[0])
    return os.getpid(), told, subwords.infer("unheard")


@pytest.mark.no_cover
def test_workers_map_one_file_of_a_table_in_memory():
    # 12 MB, which joblib maps
    vectors = np.random.default_rng(0).normal(size=(3_000, 1_000))
    large = WordEmbedding([f"w{i}" for i in range(3_000)], vectors)
    model = FastText(common_texts, vector_size=6, min_count=1, bucket=50, workers=1)
    subwords = WordEmbedding.from_gensim(model)
    processes, told, inferred = zip(
        *Parallel(n_jobs=2)(
            delayed(described)(large, large, subwords) for _ in range(6)
        ),
        strict=True,
    )
    assert os.getpid() not in processes
    (one,) = set(told)
    assert isinstance(one[0], str)
    assert one[1:] == (True, *[large.fingerprint, subwords.fingerprint] * 2, 7)
    assert (np.array(inferred) == subwords.infer("unheard")).all()
