"""Releases texts with a published package, for those that report on the release.

Runs in an environment that holds the package and not skdptext:
``release_peer.py REQUEST ANSWER``, both JSON.
"""

import peer_mechanisms


def scrubadub(request):
    import scrubadub

    scrubber = scrubadub.Scrubber()
    return [scrubber.clean(text) for text in request["texts"]]


def santext(request):
    given = {**request, "mechanism": "SanText", "lam": 0.0}
    mechanism = peer_mechanisms.pypantera(given, request["words"], request["vectors"])
    return [mechanism.processText(text.split()) for text in request["texts"]]


def released(request):
    release = {"scrubadub": scrubadub, "pypantera": santext}[request["package"]]
    return {"texts": release(request)}


if __name__ == "__main__":
    peer_mechanisms.answer(released)
