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

    words, vectors = request["words"], np.array(request["vectors"], dtype=np.float32)
    table = KeyedVectors(vectors.shape[1])
    table.add_vectors(words, vectors)
    kind = request["mechanism"]
    options = {"epsilon": request["epsilon"], "embedding_matrix": table}
    options |= {"dim": vectors.shape[1], "use_faiss": False}
    if kind == "Mahalanobis":
        options["lambd"] = request["lam"]
    if kind == "TEM":  # takes no search; its own vocabulary is a list that it brings
        del options["use_faiss"]
    if kind in ("TEM", "TruncatedGumbel"):
        options["vocab"] = words
    mechanism = getattr(mldp_text, kind)(**options)

    def noise(n):
        zero = np.zeros(vectors.shape[1])
        return [
            mechanism.get_perturbed_vector(zero, vectors.shape[1])[1] for _ in range(n)
        ]

    def draw(word, n):
        return [mechanism.replace_word(word) for _ in range(n)]

    return draw, noise


def pypantera(request):
    from src.EmbeddingPerturbationMechanism.cmp import CMP
    from src.EmbeddingPerturbationMechanism.mahalanobis import Mahalanobis
    from src.EmbeddingPerturbationMechanism.vickrey import VickreyCMP, VickreyMhl
    from src.SamplingPerturbationMechanism.custext import CusText
    from src.SamplingPerturbationMechanism.santext import SanText
    from src.SamplingPerturbationMechanism.tem import TEM

    with open("table.txt", "w") as file:
        for word, vector in zip(request["words"], request["vectors"], strict=True):
            file.write(" ".join([word, *map(repr, vector)]) + "\n")
    options = {"embPath": "table.txt", "epsilon": request["epsilon"]}
    options |= {"lam": request["lam"], "t": 0.5}
    options |= {"beta": 0.001, "k": 20, "distance": "euclidean"}
    kinds = {"CMP": CMP, "Mahalanobis": Mahalanobis}
    kinds |= {"SanText": SanText, "TEM": TEM, "CusText": CusText}
    kinds |= {"VickreyCMP": VickreyCMP, "VickreyMhl": VickreyMhl}
    mechanism = kinds[request["mechanism"]](options)
    if set(mechanism.vocab.embeddings) != set(request["words"]):
        raise RuntimeError("the package has not loaded all words of the table")

    def draw(word, n):
        out = []
        for start in range(0, n, 1000):
            text = [word] * min(1000, n - start)
            if hasattr(mechanism, "noisyEmb"):
                text = mechanism.noisyEmb(text)
            out += mechanism.processText(text).split()
        return out

    return draw, lambda n: [mechanism.pullNoise() for _ in range(n)]


def dp_diffractor(request):
    from diffractor import core
    from diffractor.utils import EmbeddingManager

    ordered = EmbeddingManager.create_sorted_list(
        np.array(request["vectors"], dtype=np.float32), request["words"]
    )
    # what the package's pool of processes, one a list, gives each of them
    core._RESOURCES = {
        "list": ordered,
        "mapping": {word: i for i, word in enumerate(ordered)},
        "config": core.DiffractorConfig(replace_stopwords=True),
        "rng": np.random.default_rng(),
    }

    def draw(word, n):
        apply = core.apply_privacy_mechanism
        return [apply(word, request["epsilon"]) for _ in range(n)]

    return draw, None


def main():
    with open(sys.argv[1]) as file:
        request = json.load(file)
    build = {
        "mldp-text": mldp_text,
        "pypantera": pypantera,
        "dp-diffractor": dp_diffractor,
    }[request["package"]]
    draw, noise = build(request)
    if "noise" in request:
        answer = np.asarray(noise(request["noise"])).tolist()
    else:
        answer = [draw(word, request["n_draws"]) for word in request["draw"]]
    with open(sys.argv[2], "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
