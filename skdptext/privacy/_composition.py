"""Several releases of one document, taken together."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from skdptext.exceptions import InvalidParameterError
from skdptext.privacy._guarantee import PrivacyGuarantee
from skdptext.privacy._wording import (
    composed_as_html,
    composed_in_words,
    head,
    wrapped,
)
from skdptext.utils import check_integer

__all__ = ["ComposedGuarantee", "check_times"]


def check_times(other: Any) -> int:
    """Return what `compose` was given if it is a number of releases."""
    try:
        return check_integer("other", other, low=1)
    except InvalidParameterError:
        raise InvalidParameterError(
            "other must be an integer >= 1, a PrivacyGuarantee or a "
            f"ComposedGuarantee, got {other!r:.80}."
        ) from None


class ComposedGuarantee:
    r"""What different releases of one document promise together.

    Releases with independent noise multiply the odds, so their exponents add up:
    :math:`t(x, x') = \sum_i k_i t_i(x, x')`, each :math:`t_i` in the metric of its own
    release, which depends on its λ.

    Parameters
    ----------
    parts : iterable of PrivacyGuarantee or ComposedGuarantee
        One or more, over the same embedding.

    Attributes
    ----------
    parts : tuple of PrivacyGuarantee
        Composed ones are taken apart.
    embedding : WordEmbedding
        That of all parts.
    releases : int
        How many releases there are.
    epsilon : float or None
        The sum of the ε of all releases if they share one metric; else None, for ε of
        different metrics cannot be added. See `relative_to`.

    Raises
    ------
    InvalidParameterError
        If there is no part, or one that is no guarantee, or two embeddings.

    Notes
    -----
    *Privacy.* The sum is a bound for whatever an adversary does with all releases. It
    holds for fresh noise in each of them: repeating a release with the same integer
    seed shows nothing new and costs nothing, but the same noise on two *different*
    settings is not covered (the library derives other noise for them).

    Examples
    --------
    >>> from skdptext import WordEmbedding
    >>> from skdptext.privacy import ComposedGuarantee, PrivacyGuarantee
    >>> embedding = WordEmbedding(list("abc"), [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
    >>> both = ComposedGuarantee([
    ...     PrivacyGuarantee(2.0, 0.0, embedding, releases=3),
    ...     PrivacyGuarantee(2.0, 0.5, embedding)])
    >>> both.releases, both.epsilon
    (4, None)
    >>> print(f"{both.exponent('a', 'b'):.2f}")
    8.62
    >>> print(f"{both.relative_to(0.0).epsilon:.2f}")
    8.64
    """

    def __init__(self, parts: Iterable[PrivacyGuarantee | ComposedGuarantee]) -> None:
        listed = list(parts) if isinstance(parts, Iterable) else [parts]
        flat: list[PrivacyGuarantee] = []
        for part in listed:
            if isinstance(part, ComposedGuarantee):
                flat += part.parts
            elif isinstance(part, PrivacyGuarantee):
                flat.append(part)
            else:
                raise InvalidParameterError(
                    "parts must be an iterable of PrivacyGuarantee and "
                    f"ComposedGuarantee, got {part!r:.80}."
                )
        if not flat:
            raise InvalidParameterError("parts must hold a guarantee at least, got [].")
        if len({part.embedding.fingerprint for part in flat}) > 1:
            tables = ", ".join(repr(part.embedding)[:60] for part in flat)
            raise InvalidParameterError(
                f"parts must be guarantees over the same embedding, got {tables}."
            )
        self.parts: tuple[PrivacyGuarantee, ...] = tuple(flat)
        self.embedding = flat[0].embedding

    @property
    def releases(self) -> int:
        """How many releases there are."""
        return sum(part.releases for part in self.parts)

    @property
    def epsilon(self) -> float | None:
        """Sum of the ε of all releases, if all share one metric; else None."""
        if len({part.metric_lam for part in self.parts}) > 1:
            return None
        return float(sum(part.releases * part.epsilon for part in self.parts))

    def exponent(self, x: Any, y: Any) -> float:
        """The t with Pr[S | x] ≤ e^t Pr[S | y] for every set S of joint releases.

        Parameters
        ----------
        x, y : str, or list of str, or counts of shape (n_words_of_embedding,)
            As in `PrivacyGuarantee.exponent`. Each part cuts or redraws documents in
            its own way.

        Returns
        -------
        exponent : float
            In nats: the sum of the parts' exponents.

        Raises
        ------
        InvalidParameterError
            If a part raises it.
        """
        return float(sum(part.exponent(x, y) for part in self.parts))

    def epsilon_for(self, x: Any, y: Any, *, factor: float) -> float:
        """One ε for all releases at which the odds change by a factor at most.

        Parameters
        ----------
        x, y : str, or list of str, or counts of shape (n_words_of_embedding,)
            As in `exponent`.
        factor : float > 1
            The factor e^t allowed, over all releases of all parts.

        Returns
        -------
        epsilon : float
            The largest ε that the perturbers may have, if each has this one and keeps
            its λ and all the rest. With it in every part, `exponent` is log(factor).
            Infinite if the two are the same to all parts, so that any ε will do; 0 if
            their sizes tell them apart in one, so that none will.

        Notes
        -----
        The ε that the parts have now do not matter. To keep their ratios instead,
        multiply each by log(factor) / ``exponent(x, y)``.

        *Privacy.* As in `PrivacyGuarantee.epsilon_for`: choose the pair from public
        text.

        Examples
        --------
        >>> import math
        >>> from skdptext import WordEmbedding
        >>> from skdptext.privacy import PrivacyGuarantee
        >>> embedding = WordEmbedding(list("abc"), [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
        >>> both = PrivacyGuarantee(2.0, 0.0, embedding).compose(
        ...     PrivacyGuarantee(5.0, 0.5, embedding, releases=3))
        >>> epsilon = both.epsilon_for("a", "b", factor=20.0)
        >>> print(f"{epsilon:.3f}")
        0.608
        >>> same = PrivacyGuarantee(epsilon, 0.0, embedding).compose(
        ...     PrivacyGuarantee(epsilon, 0.5, embedding, releases=3))
        >>> print(f"{math.exp(same.exponent('a', 'b')):.3f}")
        20.000
        """
        each = [part.epsilon_for(x, y, factor=factor) for part in self.parts]
        if 0.0 in each:
            return 0.0
        # Exponents are ε times something: where they add up, ε adds up as resistances
        # in parallel do.
        rate = sum(1 / epsilon for epsilon in each)
        return 1 / rate if rate else math.inf

    def euclidean(self, *, by: str = "eigenvalues") -> ComposedGuarantee:
        """The same promise with every part relative to the Euclidean metric.

        Parameters
        ----------
        by : {"eigenvalues", "lemma3"}, default="eigenvalues"
            As in `PrivacyGuarantee.relative_to`.

        Returns
        -------
        guarantee : ComposedGuarantee
            Its `epsilon` is a number.
        """
        return self.relative_to(0, by=by)

    def relative_to(self, lam: float, *, by: str = "eigenvalues") -> ComposedGuarantee:
        """The same promise with every part relative to the metric of one λ.

        Parameters
        ----------
        lam : float in [0, 1]
            Of the metric; 0 is Euclid's.
        by : {"eigenvalues", "lemma3"}, default="eigenvalues"
            As in `PrivacyGuarantee.relative_to`.

        Returns
        -------
        guarantee : ComposedGuarantee
            Its `epsilon` is a number.
        """
        return ComposedGuarantee(part.relative_to(lam, by=by) for part in self.parts)

    def compose(self, other: int | PrivacyGuarantee | ComposedGuarantee) -> Any:
        """All these releases k times, or with others besides.

        Parameters
        ----------
        other : int >= 1, PrivacyGuarantee or ComposedGuarantee
            As in `PrivacyGuarantee.compose`.

        Returns
        -------
        guarantee : ComposedGuarantee
        """
        if isinstance(other, PrivacyGuarantee | ComposedGuarantee):
            return ComposedGuarantee([self, other])
        return ComposedGuarantee(
            part.compose(other)  # which checks the number
            for part in self.parts
        )

    def __repr__(self) -> str:
        parts = "\n".join(f"  {head(part)}," for part in self.parts)
        return f"ComposedGuarantee([\n{parts}\n])\n{wrapped(str(self))}"

    def __str__(self) -> str:
        return composed_in_words(self)

    def _repr_html_(self) -> str:
        return composed_as_html(self)
