"""Errors and warnings that skdptext issues."""

__all__ = ["InvalidParameterError", "OutOfVocabularyWarning", "PrivacyLeakWarning"]


class InvalidParameterError(ValueError, TypeError):
    """A parameter or an input breaks a rule; the message names all three.

    It is a `ValueError` and a `TypeError` at once, as scikit-learn's own parameter
    error is, so that callers need not guess which of the two a rule belongs to.
    """


class PrivacyLeakWarning(UserWarning):
    """Something about the protected documents is released outside the guarantee.

    Issued, for instance, when the number of words of each document is released,
    when unknown words pass through in clear, or when something that should be
    public is learned from the documents that are to be protected.
    """


class OutOfVocabularyWarning(UserWarning):
    """So many words are unknown to the embedding that it may be the wrong one."""
