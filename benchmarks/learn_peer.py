"""Classifiers of diffprivlib, asked by the experiment on learning from private text.

Runs in an environment that holds diffprivlib and not skdptext:
``learn_peer.py REQUEST ANSWER``, both JSON.
"""

import json
import sys

import numpy as np
from diffprivlib.models import GaussianNB, LogisticRegression


def fitted(model, epsilon, X, y, seed):
    if model == "LogisticRegression":
        made = LogisticRegression(
            epsilon=epsilon, data_norm=1.0, max_iter=1000, random_state=seed
        )
    else:
        made = GaussianNB(epsilon=epsilon, bounds=(-1.0, 1.0), random_state=seed)
    return made.fit(X, y)


def main(asked, answered):
    with open(asked) as file:
        request = json.load(file)
    X, y, test = (np.array(request[name]) for name in ("X", "y", "test"))
    # rounding must not make a row longer than 1
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1, keepdims=True) * (1 + 1e-12))
    answer = {
        model: {
            str(epsilon): [
                fitted(model, epsilon, X, y, seed).predict(test).tolist()
                for seed in range(request["draws"])
            ]
            for epsilon in request["epsilons"]
        }
        for model in ("LogisticRegression", "GaussianNB")
    }
    with open(answered, "w") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
