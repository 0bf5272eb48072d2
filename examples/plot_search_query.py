"""
Can a search engine answer a noisy query?
=========================================

A query tells the engine what you look for. If it is perturbed on your own machine, is
the page still found, and does the engine still recognise what you asked?
"""

# %%
# Pages and queries
# -----------------
#
# The pages are the documentation of Python libraries, which comes with every install.
# The first sentence of a page is the query, and is cut from the page: a query is
# answered if its page is among the first ten. The engine ranks pages by tf-idf.

import re

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from skdptext.datasets import load_docstring_embedding, load_docstrings

corpus = load_docstrings(remove=["examples", "headers", "names"])
embedding = load_docstring_embedding().restrict(4000)
split = [re.split(r"\.\s|\n\n", text, maxsplit=1) for text in corpus.data]
split = [both for both in split if len(both) == 2 and len(both[1].split()) > 30]
split = [both for both in split if 4 <= len(both[0].split()) <= 15]
pages = [rest for _, rest in split]
asked = np.random.default_rng(0).permutation(len(pages))
mine, public = asked[:200], [split[i][0] for i in asked[200:]]
queries = [split[i][0] for i in mine]

engine = TfidfVectorizer(vocabulary=embedding.words, sublinear_tf=True)
index = engine.fit_transform(pages)


def first(queries, n=10, among=None):
    """The n best pages for each query, of all or of those given."""
    scores = (engine.transform(queries) @ index.T).toarray()
    if among is not None:
        kept = np.zeros(scores.shape, dtype=bool)
        np.put_along_axis(kept, among, True, axis=1)
        scores[~kept] = -1
    return np.argsort(-scores, axis=1, kind="stable")[:, :n]


def answered(results):
    """The share of queries whose page is among the results."""
    return np.mean((results == mine[:, None]).any(axis=1))


in_clear = answered(first(queries))
print(f"{len(pages)} pages; in clear {in_clear:.0%} of the queries are answered")

# %%
# Noise on the query
# ------------------
#
# ε is chosen on queries of other people: a tenth, a quarter, half or three quarters of
# the words change. Words outside the public vocabulary are left out, so a typo or a
# name never leaves the machine.

import warnings

from skdptext import DPWordPerturber
from skdptext.attacks import linkage_attack
from skdptext.exceptions import PrivacyLeakWarning
from skdptext.model_selection import calibrate_epsilon

perturber = DPWordPerturber(
    embedding, mechanism="exponential", lam=0, output="text", order="keep"
)
rows = []
with warnings.catch_warnings():
    # A warning says that the lengths of the queries are released. They are short.
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    for share in (0.1, 0.25, 0.5, 0.75, 0.9):
        epsilon = calibrate_epsilon(
            perturber, share, statistic="changed", documents=public, tuned_on="public"
        ).epsilon
        perturber.set_params(epsilon=epsilon).fit([])
        noisy = perturber.transform(queries)
        attack = linkage_attack(
            queries[:100], perturber, n_draws=5, distances=False, random_state=0
        )
        recognised = attack.scores["linkage"].value
        at_home = first(queries, among=first(noisy, n=50))
        rows.append((share, answered(first(noisy)), answered(at_home), recognised))
        print(f"{share:.0%} changed, ε = {epsilon:.2f}: {noisy[0]}")
print(f"as asked: {queries[0]}")

# %%
# What is answered, and what is recognised
# ----------------------------------------
#
# An engine that has a list of 100 queries, of which yours is one, compares them with
# the noisy one. You may ask for 50 pages instead of ten and rank them at home by the
# true query, which releases nothing.

import matplotlib.pyplot as plt

in_all = [(0, in_clear, in_clear, 1), *rows]
changed, found, at_home, recognised = np.transpose(in_all)
figure, axis = plt.subplots(figsize=(7, 3.8), layout="constrained")
axis.plot(changed, recognised, "s-", color="C1", label="recognised among 100 queries")
axis.plot(changed, at_home, "^-", color="C2", label="page in ten of 50, chosen at home")
axis.plot(changed, found, "o-", color="C0", label="page among the first ten")
axis.set(xlabel="share of words changed", ylabel="share of queries", ylim=(0, 1.05))
axis.legend(loc="lower left")
figure.suptitle("A noisy query: answered, and recognised")
plt.show()

# %%
# With a quarter of the words changed most queries are still answered, with half of them
# about half, and more if you choose at home. An engine that expects a query recognises
# it all the same. What the noise hides are single words: any of them may be noise.
# Asking again with fresh noise costs the exponents once more, so keep the noisy query
# and use it again. The engine still sees your address, your account and the time.
#
# If the query itself must not be recognised, send a public query of the same topic:
# ``DPDocumentReplacer(public, public_labels=topics, epsilon=4)`` bounds how many of 100
# equally likely queries anyone recognises on average, by 13 with 16 topics. Its results
# answer the public query, so it serves coarse needs, such as which shelf to fetch.
# Queries of one person add up here, too (:doc:`/howto/replace_documents`).
