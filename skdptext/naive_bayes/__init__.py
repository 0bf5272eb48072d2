"""Naive Bayes that knows the distribution of the noise."""

from skdptext.naive_bayes._channel import ChannelNaiveBayes

__all__ = ["ChannelNaiveBayes"]
