"""Draws noisy words, or noise, from a published package, for those that audit it.

Runs in an environment that holds the package and not skdptext:
``audit_peer.py REQUEST ANSWER``, both JSON.
"""

import json
import sys

import numpy as np


def mldp_text(request):
    import mldp_text
    from gensim.models import KeyedVectors

    vectors = np.array(request["vectors"], dtype=np.float32)
    dim = vectors.shape[1]
    table = KeyedVectors(dim)
    table.add_vectors(request["words"], vectors)
    options = {"epsilon": request["epsilon"], "embedding_matrix": table}
    options |= {"dim": dim, "use_faiss": False}
    if request["mechanism"] == "Mahalanobis":
        options["lambd"] = request["lam"]
    mechanism = getattr(mldp_text, request["mechanism"])(**options)

    def noise():
        return mechanism.get_perturbed_vector(np.zeros(dim), dim)[1]

    def draw(word, n):
        return [mechanism.replace_word(word) for _ in range(n)]

    return draw, noise


def pypantera(request):
    from src.EmbeddingPerturbationMechanism.cmp import CMP
    from src.EmbeddingPerturbationMechanism.mahalanobis import Mahalanobis

    with open("table.txt", "w") as file:
        for word, vector in zip(request["words"], request["vectors"]):  # noqa: B905
            file.write(" ".join([word, *map(repr, vector)]) + "\n")
    options = {"embPath": "table.txt", "epsilon": request["epsilon"]}
    kinds = {"CMP": CMP, "Mahalanobis": Mahalanobis}
    mechanism = kinds[request["mechanism"]](options | {"lam": request["lam"]})
    if list(mechanism.vocab.embeddings) != request["words"]:
        raise RuntimeError("the package has not loaded the table as it is")

    def draw(word, n):
        out = []
        for start in range(0, n, 1000):
            text = mechanism.noisyEmb([word] * min(1000, n - start))
            out += mechanism.processText(text).split()
        return out

    return draw, mechanism.pullNoise


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        request = json.load(file)
    draw, noise = {"mldp-text": mldp_text, "pypantera": pypantera}[request["package"]](
        request
    )
    if "noise" in request:
        result = np.asarray([noise() for _ in range(request["noise"])]).tolist()
    else:
        result = [draw(word, request["n_draws"]) for word in request["draw"]]
    with open(sys.argv[2], "w") as file:
        json.dump(result, file)
