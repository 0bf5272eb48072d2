"""What every releaser offers, and what adversaries compute of the noise on words."""

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

# The names above of the form `x as x` are for the rooms beside.
__all__ = ["BaseReleaser"]
