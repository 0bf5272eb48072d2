"""
Does a mechanism keep what it claims?
=====================================

Three perturbers claim the same guarantee. One keeps it. One looks at the true word
again after the noise, and one has noise of the wrong shape; published packages make
both mistakes. Their output looks alike. Can statistics tell them apart?
"""

# %%
# Three perturbers, one claim
# ---------------------------
#
# An audit takes any object with ``perturb_words`` and ``guarantee``. The embedding has
# 60 words in two dimensions, so that we can look at it. Its cloud is elongated, as in
# real embeddings.

import numpy as np
from scipy.spatial import KDTree

from skdptext import DPWordPerturber, WordEmbedding

rng = np.random.default_rng(5)
vectors = rng.normal(size=(60, 2)) @ [[2.0, 1.2], [0.0, 0.7]]
embedding = WordEmbedding([f"w{i}" for i in range(60)], vectors)
right = DPWordPerturber(
    embedding, epsilon=2, lam=1, document_length=1, random_state=rng
).fit([])


class NeverTheSame:
    """Takes the second nearest word if the nearest one is the true word."""

    guarantee = staticmethod(right.guarantee)

    def noise(self, n):
        channel = right.mechanism_
        return channel.noise(channel.draw(rng, n))

    def perturb_words(self, words, n_draws=1):
        ids = np.repeat(embedding.find(words), n_draws)
        points = embedding.vectors[ids] + self.noise(len(ids))
        first, second = KDTree(embedding.vectors).query(points, k=2)[1].T
        return embedding.word_array[self.choose(first, second, ids)].reshape(
            -1, n_draws
        )

    def choose(self, first, second, ids):
        return np.where(first == ids, second, first)


class Renormalised(NeverTheSame):
    """Stretches the direction of the noise, and then makes its length 1 again."""

    def noise(self, n):
        directions = rng.standard_normal((n, 2)) @ right.noise_factor_
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return directions * rng.gamma(2, 1 / 2, n)[:, None]

    def choose(self, first, second, ids):
        return first


# %%
# The audit
# ---------
#
# For each pair of words the audit finds the set of outputs that best tells them apart,
# and bounds the exponent from below, on draws that had no part in finding the set.
# Above the diagonal the guarantee is false. The error rate, over all pairs, is 1 %.

from skdptext.audit import audit_word_privacy

subjects = {
    "DPWordPerturber": right,
    "never the same word": NeverTheSame(),
    "renormalised noise": Renormalised(),
}
audits = {
    name: audit_word_privacy(subject, n_draws=20_000, n_pairs=40, random_state=0)
    for name, subject in subjects.items()
}
for name, audit in audits.items():
    print(f"{name}: {audit}\n")

# %%

import matplotlib.pyplot as plt

figure, axes = plt.subplots(
    3, 1, figsize=(5.6, 9), sharex=True, sharey=True, layout="constrained"
)
top = max(audit.lower_bound.max() for audit in audits.values()) * 1.05
reach = max(audit.claimed.max() for audit in audits.values()) * 1.05
for axis, (name, audit) in zip(axes, audits.items(), strict=True):
    axis.fill_between([0, reach], [0, reach], top, color="C1", alpha=0.1, linewidth=0)
    axis.plot([0, reach], [0, reach], color="0.4", linewidth=1)
    bad = audit.violated
    axis.scatter(audit.claimed[~bad], audit.lower_bound[~bad], s=18, color="C0")
    axis.scatter(
        audit.claimed[bad], audit.lower_bound[bad], s=30, color="C1", marker="x"
    )
    axis.set(
        title=f"{name}\n{bad.sum()} of {len(bad)} pairs violate the claim",
        ylabel="exponent, lower bound",
        xlim=(0, reach),
        ylim=(-0.02 * top, top),
    )
axes[-1].set_xlabel("exponent claimed")
axes[0].text(0.05 * reach, 0.9 * top, "claim is false", color="C1")
figure.suptitle("What is claimed, and the least that is true")
plt.show()

# %%
# The word that never stays gives itself away: anyone who sees *w* released knows that
# the word was not *w*. The wrong noise shows in some pairs only: those that differ
# along the cloud, where it falls off too fast.
#
# Looking at the noise itself
# ---------------------------
#
# If a mechanism shows its noise, a test of its distribution is much sharper, and says
# what is wrong. A perturber of this library is run and its draws are recorded; other
# noise comes from ``sample``.

from skdptext.audit import audit_noise_law


class RenormalisedNoise:
    """The noise of the third perturber, with what it claims to be."""

    epsilon = 2.0
    whiten = staticmethod(right.mechanism_.metric.whiten)

    def sample(self, rng, n):
        return Renormalised().noise(n)


print(audit_noise_law(right, random_state=0))
print(audit_noise_law(RenormalisedNoise(), random_state=0))

# %%
# The noise of the second perturber is right; its fault comes after the noise, where
# only the audit of words can see it. Use both. A mechanism that passes both is still
# not proved to be private: an audit can show a violation, never its absence.
