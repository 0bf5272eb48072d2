"""Mechanisms of published packages; imported by the scripts that run beside them.

In an environment that holds the package and not skdptext.
"""

import json
import sys


def mldp_text(request, words, vectors):
    import mldp_text
    from gensim.models import KeyedVectors

    table = KeyedVectors(vectors.shape[1])
    table.add_vectors(words, vectors)
    kind = request["mechanism"]
    options = {"epsilon": request["epsilon"], "embedding_matrix": table}
    options |= {"dim": vectors.shape[1], "use_faiss": False}
    if kind == "Mahalanobis":
        options["lambd"] = request["lam"]
    return getattr(mldp_text, kind)(**options)


def pypantera(request, words, vectors):
    from src.EmbeddingPerturbationMechanism.cmp import CMP
    from src.EmbeddingPerturbationMechanism.mahalanobis import Mahalanobis
    from src.EmbeddingPerturbationMechanism.vickrey import VickreyCMP, VickreyMhl
    from src.SamplingPerturbationMechanism.santext import SanText

    with open("table.txt", "w") as file:
        for word, vector in zip(words, vectors):  # noqa: B905, one length
            file.write(" ".join([word, *map(repr, vector)]) + "\n")
    options = {"embPath": "table.txt", "epsilon": request["epsilon"]}
    options |= {"lam": request["lam"], "t": 0.5}
    options |= {"beta": 0.001, "k": 20, "distance": "euclidean"}
    kinds = {"CMP": CMP, "Mahalanobis": Mahalanobis}
    kinds |= {"SanText": SanText}
    kinds |= {"VickreyCMP": VickreyCMP, "VickreyMhl": VickreyMhl}
    mechanism = kinds[request["mechanism"]](options)
    if list(mechanism.vocab.embeddings) != words:
        raise RuntimeError("the package has not loaded the table as it is")
    return mechanism


def answer(make):
    """Write what `make` makes of the request: ``SCRIPT REQUEST ANSWER``, both JSON."""
    with open(sys.argv[1]) as file:
        request = json.load(file)
    result = make(request)
    with open(sys.argv[2], "w") as file:
        json.dump(result, file)
