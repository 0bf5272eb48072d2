"""Releases texts with a published package, for those that report on the release.

Runs in an environment that holds the package and not skdptext:
``release_peer.py REQUEST ANSWER``, both JSON.
"""

import json
import sys


def scrubadub(request):
    import scrubadub

    scrubber = scrubadub.Scrubber()
    return [scrubber.clean(text) for text in request["texts"]]


def santext(request):
    from src.SamplingPerturbationMechanism.santext import SanText

    with open("table.txt", "w") as file:
        for word, vector in zip(request["words"], request["vectors"], strict=True):
            file.write(" ".join([word, *map(repr, vector)]) + "\n")
    options = {"embPath": "table.txt", "epsilon": request["epsilon"]}
    options |= {"distance": "euclidean", "lam": 0.0, "t": 0.5, "beta": 0.001, "k": 20}
    mechanism = SanText(options)
    return [mechanism.processText(text.split()) for text in request["texts"]]


def main():
    with open(sys.argv[1]) as file:
        request = json.load(file)
    release = {"scrubadub": scrubadub, "pypantera": santext}[request["package"]]
    with open(sys.argv[2], "w") as file:
        json.dump({"texts": release(request)}, file)


if __name__ == "__main__":
    main()
