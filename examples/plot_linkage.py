"""
Who finds a message in its release?
===================================

Somebody has messages in clear, sees a release, and asks which message it came from. How
often are they right, if the messages were shortened, shuffled, redacted, perturbed or
replaced? And how much noise would it take?
"""

# %%
# Messages of ten words and more
# ------------------------------
#
# SMS messages and GloVe, from the folder that ``SKDPTEXT_DATA`` names.

import os
import re
from pathlib import Path

from skdptext import WordEmbedding
from skdptext.datasets import fetch_sms_spam, load_docstring_embedding, load_docstrings

vectors = sorted(Path(os.environ.get("SKDPTEXT_DATA", ".")).glob("glove*50d.*"))
if vectors:
    embedding = WordEmbedding.load(vectors[0], n_words=3000)
    texts = fetch_sms_spam().data
else:  # no such folder: documentation, and vectors learned from it, stand in
    embedding = load_docstring_embedding().restrict(3000)
    texts = load_docstrings(remove=["examples", "headers", "names"]).data
known = ([w for w in re.findall(r"\w\w+", t.lower()) if w in embedding] for t in texts)
messages = [" ".join(words[:40]) for words in known if len(words) >= 10]
messages = list(dict.fromkeys(messages))  # some are there several times
private, public = messages[:200], messages[200:]
print(f"{len(private)} private and {len(public)} public texts; {embedding}")

# %%
# Five releases
# -------------
#
# The first three need no library. The perturber changes half of the words; the replacer
# answers each message with a public one of its group, at ε = 4.

from collections import Counter

import numpy as np

from skdptext import DPDocumentReplacer, DPWordPerturber
from skdptext.model_selection import calibrate_epsilon

rng = np.random.default_rng(0)
count = Counter(word for message in public for word in set(message.split()))
perturber = DPWordPerturber(
    embedding,
    mechanism="exponential",
    lam=0,
    document_length=10,
    resize="sample",
    output="text",
    random_state=rng,
)
half = calibrate_epsilon(
    perturber, 0.5, statistic="changed", documents=public, tuned_on="public"
)
perturber.set_params(epsilon=half.epsilon).fit([])
replacer = DPDocumentReplacer(public, n_groups=4, epsilon=4, random_state=rng).fit()
released = {
    "first five words": [" ".join(m.split()[:5]) for m in private],
    "words shuffled": [" ".join(rng.permutation(m.split())) for m in private],
    "rare words redacted": [
        " ".join(w if count[w] > 20 else "x" for w in m.split()) for m in private
    ],
    "half of the words changed": perturber.transform(private),
    "replaced by public messages": replacer.transform(private),
}

# %%
# A report on each
# ----------------
#
# `~skdptext.inspection.release_report` needs the originals and the releases, not how
# they were made. Among its adversaries the one that did best on one half of the
# messages is scored on the other half.

import matplotlib.pyplot as plt

from skdptext.inspection import release_report

reports = {
    name: release_report(private, release, n_candidates=100, random_state=0)
    for name, release in released.items()
}
figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
for place, report in enumerate(reports.values()):
    score = report.scores["linkage"]
    axis.barh(place, score.value, color="C0")
    axis.plot([score.low, score.high], [place, place], color="0.2", linewidth=2)
axis.set(yticks=range(len(reports)), yticklabels=list(reports), xlim=(0, 1.02))
axis.set_xlabel("found among 100 candidates, at least (lines: 95 % intervals)")
axis.invert_yaxis()
figure.suptitle("Whose message is found?")
plt.show()

# %%
# How much noise would it take?
# -----------------------------
#
# An adversary who knows the mechanism does better than one who compares words. "Ordered
# text" and "bag" are log-likelihoods: they use the probability that each word is
# released as each other word. The others know nothing of the noise.

from skdptext.attacks import linkage_attack

perturber.set_params(resize="truncate", output="bow")
success, changed = {}, []
for share in (0.5, 0.7, 0.85, 0.95):
    epsilon = calibrate_epsilon(
        perturber, share, statistic="changed", documents=public, tuned_on="public"
    ).epsilon
    perturber.set_params(epsilon=epsilon).fit([])
    attack = linkage_attack(
        private[:100], perturber, n_draws=5, distances=False, random_state=0
    )
    changed.append(attack.changed)
    of_adversary = {row.adversary: row.value for row in attack.rows}
    for name in ("ordered text", "bag", "tf-idf", "mean vectors"):
        success.setdefault(name, []).append(of_adversary[name])
figure, axis = plt.subplots(figsize=(8, 3.8), layout="constrained")
for (name, shares), marker in zip(success.items(), "osD^", strict=True):
    axis.plot(changed, shares, marker=marker, label=name)
axis.axhline(attack.chance, color="0.5", linestyle=":", label="a guess")
axis.set(xlabel="share of words changed", ylabel="messages found", ylim=(0, 1.05))
figure.legend(loc="outside right center")
figure.suptitle("Messages found among 100, by adversary")
plt.show()

# %%
# The order of the words alone gives many messages away. Noise that changes half of the
# words hides hardly any message; noise that hides them leaves no words to learn from.
# Stand-ins are found at a rate that a proof bounds for every adversary:

print(f"at most {replacer.guarantee().found_at_most(100):.3f}")
