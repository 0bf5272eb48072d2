"""Draws noisy words, or noise, from a published package, for those that audit it.

Runs in an environment that holds the package and not skdptext:
``audit_peer.py REQUEST ANSWER``, both JSON.
"""

import numpy as np
import peer_mechanisms


def mldp_text(request):
    words, vectors = request["words"], np.array(request["vectors"], dtype=np.float32)
    mechanism = peer_mechanisms.mldp_text(request, words, vectors)

    def noise(n):
        zero = np.zeros(vectors.shape[1])
        return [
            mechanism.get_perturbed_vector(zero, vectors.shape[1])[1] for _ in range(n)
        ]

    def draw(word, n):
        return [mechanism.replace_word(word) for _ in range(n)]

    return draw, noise


def pypantera(request):
    mechanism = peer_mechanisms.pypantera(request, request["words"], request["vectors"])

    def draw(word, n):
        out = []
        for start in range(0, n, 1000):
            text = [word] * min(1000, n - start)
            if hasattr(mechanism, "noisyEmb"):
                text = mechanism.noisyEmb(text)
            out += mechanism.processText(text).split()
        return out

    return draw, lambda n: [mechanism.pullNoise() for _ in range(n)]


def drawn(request):
    build = {"mldp-text": mldp_text, "pypantera": pypantera}[request["package"]]
    draw, noise = build(request)
    if "noise" in request:
        return np.asarray(noise(request["noise"])).tolist()
    return [draw(word, request["n_draws"]) for word in request["draw"]]


if __name__ == "__main__":
    peer_mechanisms.answer(drawn)
