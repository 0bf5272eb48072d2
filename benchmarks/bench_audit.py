"""Power and false alarms of the audits; what they find in published packages.

One command::

    python benchmarks/bench_audit.py [--draws 100000] [--repeats 200] [--no-peers]

*False alarms*: audits of a right mechanism on a line of four words, where the exponent
claimed is attained, so that any bound that is too high is an alarm. *Power*: the
smallest factor between the true ε and the claimed one that is caught in 9 of 10 audits.

*Peers*: mldp-text 0.1.2 and pyPANTERA 1.0.2 are installed from PyPI into throw-away
environments below a temporary folder, and asked for draws there; nothing of them
enters this one. They get a public two-dimensional table of 60 words, and ε and λ as
their documentation says. Mahalanobis gets the table twice: nearly centred, and with
column means that make up 0.42 of the variance of all entries, somewhat more than in
real tables (w2v_news_fiction_30k_300d 0.34, Google News 0.06, GloVe 0.14). The claim
audited is that of the paper each mechanism cites: ε times the Euclidean distance, or
times ‖·‖_RM (Xu et al. 2020) for Mahalanobis. The pairs are chosen by the audit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import numpy as np

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.privacy import PrivacyGuarantee, audit_noise_law, audit_word_privacy

PEER = Path(__file__).with_name("audit_peer.py")
LINE = WordEmbedding(list("abcd"), [[-0.02], [0.0], [0.5], [0.52]])
_rng = np.random.default_rng(5)
CLOUD = WordEmbedding(
    [f"w{i}" for i in range(60)],
    _rng.normal(size=(60, 2)) @ [[2.0, 1.2], [0.0, 0.7]],
)
SHIFTED = WordEmbedding(CLOUD.words, CLOUD.vectors + np.float32([1.3, -1.3]))
EPSILON, LAM = 2.0, 1.0
PEERS = {
    "mldp-text": (
        ["mldp-text==0.1.2", "numpy<2"],
        {"MultivariateCalibrated": 0.0, "Mahalanobis": LAM, "VickreyMechanism": 0.0},
    ),
    "pypantera": (
        ["pypantera==1.0.2"],
        {"CMP": 0.0, "Mahalanobis": LAM, "VickreyCMP": 0.0},
    ),
}


class Claimed:
    """A perturber that claims another ε than it has."""

    def __init__(self, perturber, guarantee):
        self.perturb_words = perturber.perturb_words
        self.guarantee = lambda: guarantee


def alarms_and_power(n_draws: int, repeats: int) -> None:
    pair = [("b", "c")]
    guarantee = PrivacyGuarantee(1.0, 0.0, LINE)

    def caught(factor: float, times: int, confidence: float, draws: int) -> float:
        perturber = DPWordPerturber(LINE, epsilon=factor, lam=0, document_length=1)
        claimed = Claimed(perturber.fit([]), guarantee)
        found = [
            audit_word_privacy(claimed, pair, n_draws=draws, confidence=confidence)
            for _ in range(times)
        ]
        return float(np.mean([audit.violated.any() for audit in found]))

    print("\n| confidence | draws | audits | false alarms | allowed |")
    print("|---|---|---|---|---|")
    for confidence, draws in ((0.7, 2000), (0.9, 2000), (0.99, 10_000)):
        rate = caught(1.0, repeats, confidence, draws)
        print(f"| {confidence} | {draws:,} | {repeats} | {rate:.3f} "
              f"| {1 - confidence:.2f} |")  # fmt: skip
    print(
        f"\nPower, {n_draws:,} draws per word, confidence 0.99, exponent 0.5 claimed:"
    )
    for factor in (1.02, 1.04, 1.06, 1.08, 1.1, 1.15, 1.2, 1.3):
        rate = caught(factor, 10, 0.99, n_draws)
        print(f"  ε {factor:.2f} × the claim: caught in {rate:.0%}")
        if rate >= 0.9:
            break


class Peer:
    """A mechanism of a package, behind the interface that the audits take."""

    def __init__(self, python, package, mechanism, lam, table, folder):
        self.python, self.folder, self.table = python, Path(folder), table
        self.request = {"package": package, "mechanism": mechanism, "lam": lam}
        self.epsilon = EPSILON
        self.claim = PrivacyGuarantee(EPSILON, lam, table)
        perturber = DPWordPerturber(table, epsilon=EPSILON, lam=lam, document_length=1)
        self.whiten = perturber.fit([]).mechanism_.whiten

    def ask(self, **question):
        request = self.request | question
        request |= {"words": list(self.table.words)}
        request |= {"vectors": self.table.vectors.tolist()}
        request |= {"epsilon": EPSILON, "table": str(self.folder / "table.txt")}
        request["answer"] = str(self.folder / "answer.json")
        done = subprocess.run(
            [self.python, PEER], input=json.dumps(request), text=True,
            capture_output=True, check=False, cwd=self.folder,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        return json.loads((self.folder / "answer.json").read_text())

    def guarantee(self):
        return self.claim

    def perturb_words(self, words, n_draws=1):
        return np.array(self.ask(draw=list(words), n_draws=n_draws), dtype=object)

    def sample(self, rng, n):
        return np.array(self.ask(noise=n))


def audit_peers(n_draws: int) -> None:
    print(f"\nPublished packages, {n_draws:,} draws per word, confidence 0.99")
    for package, (requirements, mechanisms) in PEERS.items():
        with tempfile.TemporaryDirectory() as folder:
            venv.create(Path(folder) / "venv", with_pip=True)
            python = Path(folder) / "venv" / "bin" / "python"
            install = [python, "-m", "pip", "install", "-q", *requirements]
            done = subprocess.run(install, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"\n{package}: not installed: {done.stderr.strip()[-300:]}")
                continue
            for mechanism, lam in mechanisms.items():
                audit_peer(python, package, mechanism, lam, CLOUD, n_draws, folder)
                if mechanism == "Mahalanobis":
                    audit_peer(
                        python, package, mechanism, lam, SHIFTED, n_draws, folder
                    )


def audit_peer(python, package, mechanism, lam, table, n_draws, folder) -> None:
    start = time.perf_counter()
    centred = "nearly centred table" if table is CLOUD else "shifted table"
    print(f"\n{package} {mechanism} (ε = {EPSILON:g}, λ = {lam:g}, {centred})")
    peer = Peer(python, package, mechanism, lam, table, folder)
    try:
        found = audit_word_privacy(peer, n_draws=n_draws, random_state=0)
        print("  words:", found)
        if not mechanism.startswith("Vickrey"):  # its noise is that of the first
            print("  noise:", audit_noise_law(peer, n_draws=5000))
    except RuntimeError as error:
        print("  failed:", error)
    print(f"  ({time.perf_counter() - start:.0f} s)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--peer-draws", type=int, default=20_000)
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    print(f"Python {sys.version.split()[0]}")
    alarms_and_power(options.draws, options.repeats)
    if not options.no_peers:
        audit_peers(options.peer_draws)


if __name__ == "__main__":
    main()
