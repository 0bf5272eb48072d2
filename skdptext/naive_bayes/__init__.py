"""Naive Bayes that knows the law of the noise."""

from skdptext.naive_bayes._channel import ChannelNaiveBayes

__all__ = ["ChannelNaiveBayes"]
