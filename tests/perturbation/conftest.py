"""A perturber that shows what happens beside the noise."""

from __future__ import annotations

import pytest

from skdptext import DPWordPerturber


@pytest.fixture
def faithful(small_embedding):
    """Perturbers with so large an epsilon that no word moves."""

    def make(**params):
        params = {"epsilon": 1e9, "output": "tokens"} | params
        return DPWordPerturber(small_embedding, **params).fit([])

    return make
