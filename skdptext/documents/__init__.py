"""Read documents as words of an embedding, or as points among topics."""

# None of these has a page here: names without an underscore are for other subpackages.
from skdptext.documents._mean_vectors import *
from skdptext.documents._output import *
from skdptext.documents._public import *
from skdptext.documents._reader import *
