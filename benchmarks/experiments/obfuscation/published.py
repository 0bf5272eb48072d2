"""The numbers of the 2019 paper, Table 1: right answers, of 20 and of 50 snippets."""

# ε ("none" is 0) to SRauth, SRtopic, DRauth, DRtopic
TWENTY = {
    0: (12, 16, 15, 18),
    30: (8, 18, 16, 18),
    25: (8, 18, 14, 17),
    20: (5, 11, 11, 16),
    15: (2, 11, 12, 17),
    10: (0, 15, 11, 19),
}
FIFTY = {
    0: (19, 36, 27, 43),
    30: (19, 37, 29, 43),
    25: (17, 34, 24, 41),
    20: (12, 28, 19, 42),
    15: (9, 22, 13, 42),
    10: (1, 24, 10, 43),
}
ADVERSARIES = ("SRauth", "SRtopic", "DRauth", "DRtopic")
# Our problem to theirs: right answers, and of how many
MATCH = {"18 authors": (TWENTY, 20), "40 authors": (FIFTY, 50)}
