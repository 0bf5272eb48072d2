"""
Which document was it?
======================

Somebody holds documents in clear, sees a release, and asks which of them it came from.
They know the embedding, the mechanism, ε and λ: all of it is public. How often are they
right?
"""

# %%
# Documents and candidates
# ------------------------
#
# Sixty docstrings, cut to 40 words each. The adversary holds all of them.

import warnings

import matplotlib.pyplot as plt

from skdptext import DPWordPerturber
from skdptext.attacks import linkage_attack
from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.exceptions import CalibrationWarning, PrivacyLeakWarning

corpus = load_docstrings(remove=["examples", "headers", "names"])
embedding = load_docstring_embedding().restrict(2000)
reader = DPWordPerturber(embedding, order="keep", document_length=None)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", PrivacyLeakWarning)  # nothing is released here
    words = reader.fit([]).known_words(corpus.data)
documents = [w[:40] for w in words if len(w) >= 40][:600:10]
print(len(documents), "documents")

# %%
# One ε
# -----
#
# "Ordered text" and "bag" are log-likelihoods: they use the probability that each word
# is released as each other word. The others compare words, and know nothing of the
# noise; "learned" combines them, after other documents and their releases.

perturber = DPWordPerturber(embedding, epsilon=8, lam=0, document_length=40)
found = linkage_attack(
    documents, perturber, n_draws=10, distances=False, random_state=0
)
print(found)

# %%
# Several
# -------
#
# The order of the words gives a document away at an ε at which a bag of them hides it.

warnings.simplefilter("ignore", CalibrationWarning)  # ε = 4 is meant to change most
epsilons = (4, 6, 8, 12)
success, changed = {}, []
for epsilon in epsilons:
    found = linkage_attack(
        documents,
        perturber.set_params(epsilon=epsilon),
        n_draws=10,
        distances=False,
        random_state=0,
    )
    changed.append(found.changed)
    for row in found.rows:
        success.setdefault(row.adversary, []).append(row.success)

figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
for (name, shares), marker in zip(success.items(), "*os^vD<>P", strict=True):
    axis.plot(changed, shares, marker=marker, label=name)
axis.axhline(found.chance, color="0.5", linestyle=":", label="a guess")
axis.set(xlabel="words changed", ylabel="documents found", ylim=(0, 1.05))
figure.legend(loc="outside right upper")
plt.show()
