"""Times a published package; run by bench_peers.py in the package's environment.

That environment holds the package and not skdptext. ``peer_speed.py REQUEST ANSWER``:
the request (JSON) names the package, the mechanism, the table and what to time; the
answer holds seconds per repeat, and the words found nearest to given noisy points.
"""

import json
import sys
import time

import numpy as np


def mldp_text(request, words, vectors):
    import mldp_text
    from gensim.models import KeyedVectors

    table = KeyedVectors(vectors.shape[1])
    table.add_vectors(words, vectors)
    options = {"epsilon": request["epsilon"], "embedding_matrix": table}
    options |= {"dim": vectors.shape[1], "use_faiss": request["setting"] == "faiss"}
    if request["mechanism"] == "Mahalanobis":
        options["lambd"] = request["lam"]
    mechanism = getattr(mldp_text, request["mechanism"])(**options)

    def perturb(asked):
        return [mechanism.replace_word(word) for word in asked]

    return perturb, lambda points: [int(mechanism.get_nearest(p)) for p in points]


def pypantera(request, words, vectors):
    from src.EmbeddingPerturbationMechanism.cmp import CMP
    from src.EmbeddingPerturbationMechanism.mahalanobis import Mahalanobis

    with open("table.txt", "w") as file:
        for word, vector in zip(words, vectors.tolist()):  # noqa: B905, one length
            file.write(" ".join([word, *map(repr, vector)]) + "\n")
    options = {"embPath": "table.txt", "epsilon": request["epsilon"]}
    options["lam"] = request["lam"]
    mechanism = {"CMP": CMP, "Mahalanobis": Mahalanobis}[request["mechanism"]](options)
    if list(mechanism.vocab.embeddings) != words:
        raise RuntimeError("the package has not loaded the table as it is")
    together = int(request["setting"])  # words per call
    row = {word: i for i, word in enumerate(words)}

    def perturb(asked):
        out = []
        for start in range(0, len(asked), together):
            noisy = mechanism.noisyEmb(asked[start : start + together])
            out += mechanism.processText(noisy).split()
        return out

    def nearest(points):
        out = []
        for start in range(0, len(points), together):
            out += mechanism.processText(points[start : start + together]).split()
        return [row[word] for word in out]

    return perturb, nearest


def faiss_flat(request, words, vectors):
    import faiss

    faiss.omp_set_num_threads(request["threads"])
    index = faiss.IndexFlatL2(vectors.shape[1])
    index.add(vectors)
    return None, lambda points: index.search(points, 1)[1][:, 0].tolist()


def main():
    with open(sys.argv[1]) as file:
        request = json.load(file)
    with np.load("table.npz") as file:
        words, vectors = file["words"].tolist(), file["vectors"]
        points = file["points"][: request["n_points"]]
    build = {"mldp-text": mldp_text, "pypantera": pypantera, "faiss": faiss_flat}
    perturb, nearest = build[request["package"]](request, words, vectors)
    if perturb is None:
        run = lambda: nearest(points)  # noqa: E731, one line of each
    else:
        asked = [words[i] for i in request["asked"]]
        perturb(asked[:2])  # what is done once is not timed
        run = lambda: perturb(asked)  # noqa: E731
    seconds = []
    for _ in range(request["repeats"]):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    answer = {"seconds": seconds, "nearest": nearest(points)}
    with open(sys.argv[2], "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
