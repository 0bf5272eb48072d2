"""Word Mover's Distance, computed exactly, and the search for the nearest bags.

This subpackage works on plain arrays and knows no estimators.
"""

from skdptext.transport._bags import (
    WordBags as WordBags,
    as_word_bags as as_word_bags,
    name_rows as name_rows,
    take_bags as take_bags,
)
from skdptext.transport._block import BagBlock as BagBlock
from skdptext.transport._bottleneck import bottleneck_distance as bottleneck_distance
from skdptext.transport._exact import (
    one_hot_distances as one_hot_distances,
    pair_distance as pair_distance,
)
from skdptext.transport._matching import (
    matching_cost as matching_cost,
    matching_plan as matching_plan,
)
from skdptext.transport._search import BagIndex as BagIndex

# Names of the form `x as x` are for the rooms beside, and have no page.
