"""Times a published package; run by bench_peers.py in the package's environment.

That environment holds the package and not skdptext. ``peer_speed.py REQUEST ANSWER``:
the request (JSON) names the package, the mechanism, the table and what to time; the
answer holds seconds per repeat, and the words found nearest to given noisy points.
"""

import time

import numpy as np
import peer_mechanisms


def mldp_text(request, words, vectors):
    faiss = request["setting"] == "faiss"
    mechanism = peer_mechanisms.mldp_text(request, words, vectors, faiss)

    def perturb(asked):
        return [mechanism.replace_word(word) for word in asked]

    return perturb, lambda points: [int(mechanism.get_nearest(p)) for p in points]


def pypantera(request, words, vectors):
    mechanism = peer_mechanisms.pypantera(request, words, vectors.tolist())
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


def timed(request):
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
    return {"seconds": seconds, "nearest": nearest(points)}


if __name__ == "__main__":
    peer_mechanisms.answer(timed)
