"""Whether ε is of the right order: what it does to the words of the embedding."""

from __future__ import annotations

import numpy as np

from skdptext.exceptions import CalibrationWarning
from skdptext.mechanisms import (
    WordChannel,
    draw_words,
    kept_as_they_are,
    law_fingerprint,
    shared_noise,
)
from skdptext.utils import Memo, blocks, warn_once

# With fewer words it is a toy, for which nobody chooses an ε.
_FEWEST = 1000
# Noise is measured among the first words of an embedding, at most this many.
_AMONG = 50_000
# Words, and draws of noise for each: 512 trials warn of shares near 0 and near 1.
_WORDS, _DRAWS = 64, 8
# Shares of changed words beyond which ε is hardly what was meant.
_NEARLY_ALL, _NEARLY_NONE = 0.98, 0.005

_known: Memo[np.ndarray] = Memo(64)


def warn_of_strength(channel: WordChannel) -> None:
    """Warn that a channel changes nearly all or nearly none of the words.

    Estimated from a sample of words, with noise that no release uses.
    """
    n_words = len(channel.embedding)
    if n_words < _FEWEST or channel.released is not channel.embedding:
        return
    law = channel.law()
    if law.log_proba is None and law.scales:
        # one measurement serves all ε
        key = law_fingerprint(channel.mechanism, channel.embedding, 1.0, channel.lam)
        share = (_known.get(key, lambda: _measure(channel)) > channel.epsilon).mean()
    else:
        share = _known.get(channel.fingerprint, lambda: _measure(channel)).mean()
    if share >= _NEARLY_ALL:
        left = "hardly anything of the documents is left"
    # among fewer words, fewer are changed
    elif share <= _NEARLY_NONE and (n_words <= _AMONG or law.log_proba is not None):
        left = "documents are released nearly as they are"
    else:
        return
    about = f"about {100 * share:.3g} %"
    if not 0.0005 < share < 0.9995:
        about = "practically all" if share > 0.5 else "practically none"
    warn_once(
        f"epsilon={channel.epsilon:g} changes {about} of the words of this embedding: "
        f"{left}. skdptext.model_selection.calibrate_epsilon finds the ε that changes "
        "the share you want, of public text given as documents=.",
        CalibrationWarning,
    )


def _measure(channel: WordChannel) -> np.ndarray:
    """Probability of a change, or, for noise on vectors, the ε below which it occurs.

    One value per word, or per word and draw.
    """
    rng, law = np.random.default_rng(0), channel.law()
    n_words = min(len(channel.embedding), _AMONG)
    ids = rng.permutation(n_words)[:_WORDS]
    if law.log_proba is not None and law.cheap:
        return 1 - np.concatenate([part for _, part in kept_as_they_are(channel, ids)])
    shared = shared_noise(channel, rng, _DRAWS, _AMONG)
    if shared is not None:
        # a few at a time, as each takes some rows over the vocabulary
        groups = [ids[rows] for rows in blocks(len(ids), 8)]
        scales = [part for few in groups for _, part in shared.critical_scales(few)]
        return np.concatenate(scales)
    drawn = draw_words(channel, ids, _DRAWS // 2, rng)
    return np.concatenate([noisy != ids[rows][:, None] for rows, noisy in drawn])
