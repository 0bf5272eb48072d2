"""`DPWordPerturber` against published packages, and its search against faiss.

One command, about three minutes after the environments are made::

    python benchmarks/bench_peers.py [--peers mldp-text pypantera faiss] [--repeats 3]

mldp-text 0.1.2 (with numpy < 2), pyPANTERA 1.0.2 and faiss-cpu come from PyPI, each
into an environment of its own (see ``peers.py``). All get the first 20,000 words of
the 30,000 × 300 table, ε = 10, λ = 0.5 for Mahalanobis, one thread. Each runs in
each of its settings, and the fastest counts: mldp-text with its faiss index, which is
approximate, and without; pyPANTERA with 1, 4 and 16 words per call. Ours is
``transform`` on token lists of 400 words, timed before and after each setting of a
peer. Rates are words per second by the median of repeats. As the packages draw their
own noise, they are also handed 200 noisy points of ours: the last column is the share
of which they find the true nearest word.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import measuring
import numpy as np
from peers import PeerUnavailable, ask, python_of, versions_of
from real_data import load_table
from results import record

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.search import half_squared_norms, nearest_words

SCRIPT = Path(__file__).with_name("peer_speed.py")
N_TABLE, N_WORDS, LENGTH = 20_000, 8_000, 400
EPSILON, LAM = 10.0, 0.5
N_CHECKED = 200
# Package, our name of the mechanism, its name, λ, settings, words timed, target.
PEERS = (
    ("mldp-text", "Laplace", "MultivariateCalibrated", 0.0, ("faiss", "plain"), 60, 60),
    ("mldp-text", "Mahalanobis", "Mahalanobis", LAM, ("faiss", "plain"), 30, 200),
    ("pypantera", "Laplace", "CMP", 0.0, ("1", "4", "16"), 48, 150),
    ("pypantera", "Mahalanobis", "Mahalanobis", LAM, ("1", "4", "16"), 48, 150),
)  # fmt: skip
SETTINGS = {
    "faiss": "its faiss index (approximate)", "plain": "its plain search",
    "1": "1 word per call", "4": "4 words per call", "16": "16 words per call",
}  # fmt: skip
DISTRIBUTION = {
    "mldp-text": "mldp-text",
    "pypantera": "pypantera",
    "faiss": "faiss-cpu",
}


class Bench:
    """The table, the words and the noisy points that all get."""

    def __init__(self, folder: Path, repeats: int) -> None:
        whole = load_table()
        self.table = WordEmbedding(whole.words[:N_TABLE], whole.vectors[:N_TABLE])
        self.folder, self.repeats = folder, repeats
        self.rng = np.random.default_rng(0)
        ids = self.rng.integers(0, N_TABLE, N_WORDS)
        words = self.table.word_array[ids].tolist()
        self.documents = [words[i : i + LENGTH] for i in range(0, N_WORDS, LENGTH)]
        perturber = DPWordPerturber(self.table, epsilon=EPSILON, lam=0.0).fit([])
        channel = perturber.mechanism_
        noise = channel.noise(channel.draw(self.rng, N_WORDS))
        self.points = (self.table.vectors[ids] + noise).astype(np.float32)
        self.half_norms = half_squared_norms(self.table.vectors)
        self.nearest = self.search()
        np.savez(
            folder / "table.npz",
            words=np.array(self.table.words),
            vectors=self.table.vectors,
            points=self.points,
        )

    def times(self, run: Callable[[], object]) -> list[float]:
        return measuring.rounds([run], self.repeats, warm=False)[:, 0].tolist()

    def search(self) -> np.ndarray:
        return nearest_words(self.points, self.table.vectors, self.half_norms)

    def against(self, package, name, mechanism, lam, settings, n_asked, target) -> dict:
        perturber = DPWordPerturber(self.table, epsilon=EPSILON, lam=lam).fit([])
        perturber.transform(self.documents)  # warm
        ours, answers = [], {}
        for setting in settings:
            ours += self.times(lambda: perturber.transform(self.documents))
            answers[setting] = ask(
                package,
                SCRIPT,
                {
                    "package": package, "mechanism": mechanism, "lam": lam,
                    "epsilon": EPSILON, "setting": setting, "repeats": self.repeats,
                    "asked": self.rng.integers(0, N_TABLE, n_asked).tolist(),
                    "n_points": N_CHECKED,
                },
                self.folder,
            )  # fmt: skip
            ours += self.times(lambda: perturber.transform(self.documents))
        rates = {
            setting: n_asked / statistics.median(answer["seconds"])
            for setting, answer in answers.items()
        }
        print(package, name, {s: round(r, 1) for s, r in rates.items()}, flush=True)
        best = max(rates, key=rates.__getitem__)
        our_rate = N_WORDS / statistics.median(ours)
        nearest = np.array(answers[best]["nearest"])
        right = np.mean(nearest == self.nearest[:N_CHECKED])
        version = versions_of(package, DISTRIBUTION[package])[DISTRIBUTION[package]]
        return {
            "peer": f"{package} {version}",
            "mechanism": name,
            "its best setting": SETTINGS[best],
            "peer, words/s": rates[best],
            "ours, words/s": our_rate,
            "ratio": our_rate / rates[best],
            "target": target,
            "its nearest word is right": float(right),
        }

    def against_faiss(self) -> dict:
        """The search alone, on the same noisy points."""
        request = {"package": "faiss", "threads": 1, "repeats": self.repeats}
        request["n_points"] = N_WORDS
        ours = self.times(self.search)
        answer = ask("faiss", SCRIPT, request, self.folder)
        ours += self.times(self.search)
        product = measuring.bare_product(self.points, self.table.vectors)
        bare = N_WORDS / statistics.median(self.times(product))
        faiss_rate = N_WORDS / statistics.median(answer["seconds"])
        our_rate = N_WORDS / statistics.median(ours)
        version = versions_of("faiss", "faiss-cpu")["faiss-cpu"]
        return {
            "peer": f"faiss-cpu {version}, IndexFlatL2",
            "points": N_WORDS,
            "peer, points/s": faiss_rate,
            "ours, points/s": our_rate,
            "bare float32 product, points/s": bare,
            "ratio": our_rate / faiss_rate,
            "same words": float(np.mean(np.array(answer["nearest"]) == self.nearest)),
        }


def main() -> None:
    args = measuring.options(__doc__, peers=DISTRIBUTION, repeats=3)
    missing = []
    for peer in args.peers:  # made before anything is timed
        try:
            python_of(peer)
        except PeerUnavailable as error:
            print(f"Left out, cannot be installed: {error}")
            missing.append(peer)
    peers = [peer for peer in args.peers if peer not in missing]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), args.repeats)
        rows = [bench.against(*peer) for peer in PEERS if peer[0] in peers]
        if rows:
            record(
                "peers",
                rows,
                title="Perturbation against published packages",
                note=(
                    f"First {N_TABLE:,} words of the 30,000 × 300 table, ε = "
                    f"{EPSILON:g}, λ = {LAM:g} for Mahalanobis, one thread; medians of "
                    f"{args.repeats} repeats. Ours is transform on token lists of "
                    f"{LENGTH} words. The last column: share of {N_CHECKED} noisy "
                    "points of ours whose nearest word the peer finds."
                ),
            )
        if "faiss" in peers:
            record(
                "peer_search",
                [bench.against_faiss()],
                title="Exact search of the nearest word against faiss",
                note=(
                    f"The same noisy points under the first {N_TABLE:,} words of the "
                    f"30,000 × 300 table, one thread; medians of {args.repeats} "
                    "repeats (ours: twice as many, before and after)."
                ),
            )


if __name__ == "__main__":
    main()
