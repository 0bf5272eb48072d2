"""
What does an anonymised text give away?
=======================================

A text was shortened, shuffled, redacted or perturbed. Which of these hides where it
came from? A report needs the originals and the releases, not how they were made.
"""

# %%
# Four releases of the same texts
# -------------------------------
#
# Two hundred docstrings of 60 words. Nothing here needs skdptext, but for the last one.

import re
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from skdptext import DPWordPerturber
from skdptext.datasets import load_docstring_embedding, load_docstrings
from skdptext.inspection import release_report

corpus = load_docstrings(remove=["examples", "headers", "names"])
texts = [re.findall(r"\w\w+", text.lower()) for text in corpus.data]
texts = [words[:60] for words in texts if len(words) >= 60][::7][:200]
original = [" ".join(words) for words in texts]

rng = np.random.default_rng(0)
count = Counter(word for words in texts for word in set(words))
embedding = load_docstring_embedding().restrict(2000)
perturber = DPWordPerturber(
    embedding,
    mechanism="exponential",
    epsilon=1.5,
    lam=0,
    document_length=60,
    output="tokens",
    resize="sample",
    random_state=rng,
)
released = {
    "first 10 words": [" ".join(words[:10]) for words in texts],
    "words shuffled": [" ".join(rng.permutation(words)) for words in texts],
    "rare words redacted": [
        " ".join(w if count[w] > 10 else "x" for w in words) for words in texts
    ],
    "words redrawn, perturbed": perturber.fit([]).transform(original),
}

# %%
# A report on each
# ----------------

reports = {
    name: release_report(original, release, n_candidates=100, random_state=0)
    for name, release in released.items()
}
print(reports["rare words redacted"])

# %%
# Side by side
# ------------
#
# Shuffling and redacting leave each text as easy to find as before.

figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
places = np.arange(len(reports))
for shift, (name, label) in zip(
    (-0.2, 0.2), (("linkage", "document found"), ("words", "words read")), strict=True
):
    scores = [report.scores[name] for report in reports.values()]
    value = np.array([s.value for s in scores])
    low = value - [s.low for s in scores]
    high = np.array([s.high for s in scores]) - value
    axis.barh(places + shift, value, 0.38, xerr=np.maximum([low, high], 0), label=label)
axis.set(
    yticks=places,
    yticklabels=list(reports),
    xlim=(0, 1.02),
    xlabel="at least so much is given away (95 % intervals)",
)
axis.invert_yaxis()
axis.legend(loc="upper center", bbox_to_anchor=(0.5, 1.18), ncols=2)
plt.show()
