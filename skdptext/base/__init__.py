"""Base class of releasers, and the likelihood of noisy words for attackers."""

from skdptext.base._likelihood import WordLikelihood as WordLikelihood
from skdptext.base._noise import (
    NoiseRun as NoiseRun,
    NoiseStreams as NoiseStreams,
    draw_words as draw_words,
)
from skdptext.base._releaser import (
    BaseReleaser,
    check_releaser as check_releaser,
    check_word_releaser as check_word_releaser,
    fitted_releaser as fitted_releaser,
    perturbs_words as perturbs_words,
)
from skdptext.base._transitions import (
    profiles_of as profiles_of,
    transitions_of as transitions_of,
)

# Names imported as `x as x` are for other subpackages and have no page of their own.
__all__ = ["BaseReleaser"]
