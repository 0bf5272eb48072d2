"""Nearest documents by the package `wmd`; run by bench_wmd_package.py.

Runs in an environment that holds the package and not skdptext: ``wmd_peer.py REQUEST
ANSWER``, both JSON. The table and the documents are in ``bags.npz``.
"""

import logging
import time

import numpy as np
from peer_mechanisms import answer
from wmd import WMD


def searched(request):
    with np.load("bags.npz") as file:
        vectors = file["vectors"]
        documents, queries = (
            [
                (file[f"{kind}_ids"][low:high], file[f"{kind}_weights"][low:high])
                for low, high in zip(file[f"{kind}_starts"], file[f"{kind}_starts"][1:])  # noqa: B905, one length
            ]
            for kind in ("train", "query")
        )
    search = WMD(
        vectors,
        {i: (str(i), *document) for i, document in enumerate(documents)},
        vocabulary_min=1,
        vocabulary_max=max(len(words) for words, _ in documents + queries),
        vocabulary_optimizer=None,  # no word is left out
        verbosity=logging.ERROR,
    )
    search.cache_centroids()  # once, as its documentation advises; not timed

    def find(query):
        # looks at every document, however many in a row its bounds rule out
        return search.nearest_neighbors(
            query, k=request["k"], early_stop=1.0, skipped_stop=2.0, max_time=1e9
        )

    find(queries[0])  # what is done once is not timed
    seconds = []
    for _ in range(request["repeats"]):
        start = time.process_time()
        neighbours = [find(query) for query in queries]
        seconds.append((time.process_time() - start) / len(queries))
    return {
        "seconds": seconds,
        "rows": [[int(row) for row, _ in one] for one in neighbours],
        "distances": [[float(distance) for _, distance in one] for one in neighbours],
    }


if __name__ == "__main__":
    answer(searched)
