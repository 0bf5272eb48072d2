"""The numbers that the paper prints, to set beside ours.

Z. Xu, A. Aggarwal, O. Feyisetan, N. Teissier (2020). A differentially private text
perturbation method using a regularized Mahalanobis metric.
"""

from __future__ import annotations

EPSILONS = (1.0, 5.0, 10.0, 20.0, 40.0)
LAMS = (0.0, 0.25, 0.5, 0.75, 1.0)
# Where the paper claims that N_w falls and S_w rises significantly with λ.
CLAIMED = (5.0, 10.0, 20.0)
N_DRAWS = 100

# (mean, standard deviation over the words), λ down, ε across.
TABLES = {
    ("fastText", "n_unchanged"): (
        ((0.19, 0.46), (26.89, 14.49), (68.93, 17.97), (95.28, 6.46), (99.85, 0.68)),
        ((0.15, 0.41), (16.66, 10.53), (50.31, 18.68), (86.34, 12.41), (98.69, 2.81)),
        ((0.13, 0.38), (12.68, 8.60), (40.40, 17.41), (78.44, 15.40), (96.91, 4.88)),
        ((0.12, 0.36), (10.46, 7.49), (34.14, 16.03), (71.81, 17.00), (94.85, 6.79)),
        ((0.10, 0.35), (8.97, 6.74), (29.73, 14.83), (66.24, 17.90), (92.80, 8.31)),
    ),
    ("fastText", "n_distinct"): (
        ((99.23, 0.87), (70.27, 15.07), (25.82, 15.06), (4.53, 4.56), (1.13, 0.55)),
        ((99.18, 0.90), (81.42, 11.12), (42.59, 16.56), (10.31, 8.08), (1.93, 1.80)),
        ((99.07, 0.96), (85.69, 9.10), (52.26, 15.96), (15.66, 10.18), (2.98, 2.83)),
        ((98.95, 1.03), (88.08, 7.96), (58.66, 15.13), (20.38, 11.46), (4.16, 3.75)),
        ((98.88, 1.04), (89.58, 7.17), (63.28, 14.25), (24.60, 12.37), (5.32, 4.51)),
    ),
    ("GloVe", "n_unchanged"): (
        ((0.16, 0.41), (23.71, 10.69), (65.29, 15.53), (94.49, 6.48), (99.81, 0.74)),
        ((0.11, 0.34), (13.82, 6.89), (44.83, 14.17), (83.17, 11.61), (98.22, 3.31)),
        ((0.09, 0.31), (10.20, 5.57), (34.91, 12.12), (73.78, 13.59), (95.85, 5.56)),
        ((0.08, 0.29), (8.16, 4.87), (28.97, 10.72), (66.29, 14.35), (93.26, 7.30)),
        ((0.08, 0.28), (6.81, 4.36), (24.90, 9.60), (60.27, 14.54), (90.60, 8.65)),
    ),
    ("GloVe", "n_distinct"): (
        ((99.46, 0.74), (73.20, 11.60), (28.56, 13.61), (5.18, 4.64), (1.16, 0.62)),
        ((99.45, 0.73), (84.30, 7.62), (46.08, 13.98), (12.12, 7.69), (2.21, 2.02)),
        ((99.38, 0.79), (88.39, 6.08), (56.07, 12.92), (17.96, 9.33), (3.55, 3.06)),
        ((99.30, 0.83), (90.71, 5.27), (62.69, 11.84), (23.11, 10.42), (4.94, 3.90)),
        ((99.24, 0.86), (92.17, 4.65), (67.45, 10.86), (27.51, 11.12), (6.39, 4.57)),
    ),
}
NUMBERS = {
    ("fastText", "n_unchanged"): 1,
    ("fastText", "n_distinct"): 2,
    ("GloVe", "n_unchanged"): 3,
    ("GloVe", "n_distinct"): 4,
}

# Table 5, in the names of `density_statistics`.
DENSITY = {
    "Disaster tweets": {
        "records": 7613,
        "words per record": "7.3 ± 3.0",
        "vocabulary": 22_213,
        "d_max / d_min": 35.28,
        "sparse / dense": 4.47,
        "records per sparse word, %": 0.1,
    },
    "SMS spam": {
        "records": 5574,
        "words per record": "15.6 ± 11.4",
        "vocabulary": 9515,
        "d_max / d_min": 8.92,
        "sparse / dense": 5.67,
        "records per sparse word, %": 0.4,
    },
}

# Section 5.2: accuracy, precision, recall without noise.
BENCHMARKS = {
    "SMS spam": ("bag of words", (0.99, 0.92, 0.99)),
    "Disaster tweets": ("fastText", (0.78, 0.78, 0.69)),
}


def mean(paper: str, statistic: str, epsilon: float, lam: float) -> float:
    """A published mean."""
    return _entry(paper, statistic, epsilon, lam)[0]


def std(paper: str, statistic: str, epsilon: float, lam: float) -> float:
    """A published standard deviation over the words."""
    return _entry(paper, statistic, epsilon, lam)[1]


def _entry(
    paper: str, statistic: str, epsilon: float, lam: float
) -> tuple[float, float]:
    return TABLES[paper, statistic][LAMS.index(lam)][EPSILONS.index(epsilon)]
