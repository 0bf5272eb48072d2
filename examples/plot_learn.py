"""
What does it cost to protect the labels, too?
=============================================

Stand-ins hide each text and show its label. Who holds all the texts can do better:
`~skdptext.DPTextClassifier` adds noise once, to one sum over people, and covers texts
and labels together. What is left of the accuracy, and what does an adversary learn?
"""

# %%
# Public, private and unseen texts
# --------------------------------
#
# SMS messages, from the folder that ``SKDPTEXT_DATA`` names. Of the public third only
# the texts are used.

import numpy as np
from sklearn.model_selection import train_test_split

from skdptext.datasets import fetch_sms_spam, load_docstrings

try:
    texts, labels = fetch_sms_spam(download_if_missing=False, return_X_y=True)
except OSError:  # not there: documentation of two topics stands in
    topics = ["linear algebra", "statistics"]
    texts, labels = load_docstrings(topics=topics, return_X_y=True)
once = dict(zip(texts, labels, strict=True))  # some messages are there several times
texts, labels = list(once), np.array(list(once.values()))
held, public, y, _ = train_test_split(texts, labels, test_size=1 / 3, random_state=0)
private, unseen, y_private, y_unseen = train_test_split(
    held, y, test_size=0.5, random_state=0
)
print(f"{len(public)} public, {len(private)} private and {len(unseen)} unseen texts")

# %%
# One model for each ε
# --------------------
#
# Public text fixes groups; the noisy sum counts how many people of each class are in
# each. Then it labels the public texts, and a model learns from these. Each ``fit`` is
# a release of its own, and here we look at twenty.

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline

from skdptext import DPTextClassifier

epsilons = [0.25, 0.5, 1.0, 2.0]
learner = DPTextClassifier(public, classes=np.unique(labels))
scores = [
    [
        balanced_accuracy_score(
            y_unseen,
            learner.set_params(epsilon=epsilon).fit(private, y_private).predict(unseen),
        )
        for _ in range(5)
    ]
    for epsilon in epsilons
]
clear = make_pipeline(TfidfVectorizer(), LogisticRegression(class_weight="balanced"))
in_clear = balanced_accuracy_score(
    y_unseen, clear.fit(private, y_private).predict(unseen)
)

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
low, middle, high = np.quantile(scores, [0, 0.5, 1], axis=1)
axis.axhline(in_clear, color="C1", linestyle="--", label="trained on the texts")
axis.errorbar(
    epsilons,
    middle,
    yerr=[middle - low, high - middle],
    marker="o",
    capsize=3,
    color="C0",
    label="learned by one noisy sum: median and range of 5 fits",
)
axis.set(xscale="log", xlabel="ε of a text and its label", ylabel="balanced accuracy")
axis.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
axis.minorticks_off()
axis.set_ylim(0.45, 1.02)
axis.legend(loc="center right")
figure.suptitle("Accuracy on unseen texts, with texts and labels protected")
plt.show()

# %%
# What is handed over
# -------------------
#
# Public texts with labels that were learned from private ones. Anybody trains anything
# on them.

model = learner.set_params(epsilon=1.0).fit(private, y_private)
documents, their_labels = model.sample()
score = balanced_accuracy_score(
    y_unseen, clear.fit(documents, their_labels).predict(unseen)
)
print(f"trained on {len(documents)} labelled public texts: {score:.2f}")
print(f"trained on the private texts in the clear: {in_clear:.2f}\n")
print(model.guarantee())

# %%
# Does it hold?
# -------------
#
# The audit fits with and without one text, and bounds ε from below. It can refute a
# claim, and proves none.

from skdptext.audit import audit_training

print(
    audit_training(
        model, private[:50], y_private[:50], n_fits=100, confidence=0.95, random_state=0
    )
)
