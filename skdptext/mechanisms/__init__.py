"""Mechanisms: randomised maps of words that state what they guarantee."""

from skdptext.mechanisms._channel import (
    WordChannel,
    WordMechanism,
    as_channel,
    checked_draws,
    checked_exponents,
    checked_log_proba,
    checked_words,
    law_fingerprint,
    noise_of_known_density,
)
from skdptext.mechanisms._covariance import (
    Spectrum,
    embedding_spectrum,
    scaled_covariance,
)
from skdptext.mechanisms._directional import Directional, DirectionalChannel
from skdptext.mechanisms._exact_response import ExactResponseChannel
from skdptext.mechanisms._exponential import (
    Exponential,
    ExponentialChannel,
    RandomizedResponse,
    RandomizedResponseChannel,
)
from skdptext.mechanisms._finite import FiniteChannel, InvertedChannel
from skdptext.mechanisms._losses import LossDistribution
from skdptext.mechanisms._mahalanobis import (
    MahalanobisChannel,
    MahalanobisNoise,
    VickreyChannel,
)
from skdptext.mechanisms._metric import MahalanobisMetric
from skdptext.mechanisms._names import (
    mechanism_class,
    mechanism_names,
    resolve_mechanism,
)
from skdptext.mechanisms._ranked import Ranked, RankedChannel
from skdptext.mechanisms._sensitive import SensitiveWords, SensitiveWordsChannel
from skdptext.mechanisms._simulate import (
    draw_words,
    kept_as_they_are,
    probabilities,
    stay_as_they_are,
)
from skdptext.mechanisms._topics import TopicResponse, TopicResponseChannel
from skdptext.mechanisms._word_classes import WordClasses, WordClassesChannel
from skdptext.mechanisms._word_lists import WordLists, WordListsChannel
from skdptext.mechanisms._word_losses import word_losses

__all__ = [
    "Directional",
    "DirectionalChannel",
    "ExactResponseChannel",
    "Exponential",
    "ExponentialChannel",
    "FiniteChannel",
    "InvertedChannel",
    "LossDistribution",
    "MahalanobisChannel",
    "MahalanobisMetric",
    "MahalanobisNoise",
    "RandomizedResponse",
    "RandomizedResponseChannel",
    "Ranked",
    "RankedChannel",
    "SensitiveWords",
    "SensitiveWordsChannel",
    "Spectrum",
    "TopicResponse",
    "TopicResponseChannel",
    "VickreyChannel",
    "WordChannel",
    "WordClasses",
    "WordClassesChannel",
    "WordLists",
    "WordListsChannel",
    "WordMechanism",
    "as_channel",
    "checked_draws",
    "checked_exponents",
    "checked_log_proba",
    "checked_words",
    "draw_words",
    "embedding_spectrum",
    "kept_as_they_are",
    "law_fingerprint",
    "mechanism_class",
    "mechanism_names",
    "noise_of_known_density",
    "probabilities",
    "resolve_mechanism",
    "scaled_covariance",
    "stay_as_they_are",
    "word_losses",
]
