"""
Into how many groups should public documents go?
================================================

`~skdptext.DPDocumentReplacer` answers each private document with a public one of the
same group or, by randomized response, of another. More groups keep more of what a
document is about, and show more of which document it was. Public text alone can tell
how much.
"""

# %%
# Public and private messages
# ---------------------------
#
# SMS messages, from the folder that ``SKDPTEXT_DATA`` names. The labels say which of
# them are spam; that is what a release should tell.

import numpy as np
from sklearn.model_selection import train_test_split

from skdptext.datasets import fetch_sms_spam, load_docstrings

try:
    texts, labels = fetch_sms_spam(download_if_missing=False, return_X_y=True)
except OSError:  # not there: documentation of two topics stands in
    topics = ["clustering", "statistics"]
    texts, labels = load_docstrings(topics=topics, return_X_y=True)
once = dict(zip(texts, labels, strict=True))  # some messages are there several times
public, private, y_public, y_private = train_test_split(
    list(once), list(once.values()), test_size=0.5, random_state=0
)
print(f"{len(public)} public and {len(private)} private texts")

# %%
# What public text says
# ---------------------
#
# ``compare_groupings`` groups the public messages in several ways, and works out what a
# release of them would keep of their labels. The share that anyone finds follows from ε
# and the number of groups K. Nothing private is looked at.

import matplotlib.pyplot as plt

from skdptext.inspection import PrivacyUtilityDisplay
from skdptext.replacement import compare_groupings

comparison = compare_groupings(public, y_public, n_groups=[2, 4, 8, 12], epsilon=4)
display = PrivacyUtilityDisplay.from_groupings(comparison, found=0.05).plot()
display.ax_.set_ylim(0.45, 1)
display.figure_.suptitle("What groups keep, and who is found, at ε = 4")
plt.show()

# %%
# One release
# -----------
#
# The best grouping at which nobody finds more than 5 of 100 equally likely messages on
# average, on private ones. The guarantee begins with what nobody can do.

from skdptext import DPDocumentReplacer

best = comparison.best(found=0.05)
replacer = DPDocumentReplacer(
    public,
    best.grouper,
    epsilon=best.epsilon,
    public_labels=y_public if best.uses_labels else None,
).fit()
released = replacer.transform(private)
label_of = dict(zip(public, y_public, strict=True))
same = [label_of[text] == y for text, y in zip(released, y_private, strict=True)]
print(f"{np.mean(same):.0%} of the stand-ins have the label of the message\n")
print(replacer.guarantee())

# %%
# Does it hold?
# -------------
#
# A filter that learns from the stand-ins classifies messages that it has not seen, and
# an adversary who knows everything but the noise looks for 100 messages.

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline

from skdptext.attacks import linkage_attack

learn, test = released[: len(released) // 2], private[len(released) // 2 :]
model = make_pipeline(TfidfVectorizer(), LogisticRegression(class_weight="balanced"))
model.fit(learn, y_private[: len(learn)])
score = balanced_accuracy_score(y_private[len(learn) :], model.predict(test))
print(f"balanced accuracy on unseen messages: {score:.2f}\n")
print(linkage_attack(private[:100], replacer, distances=False, random_state=0))
