"""Reading documents: they become words of an embedding, or points among topics."""

# None of these has a page here: whatever is not private is for all others.
from skdptext.documents._alone import *
from skdptext.documents._known_texts import *
from skdptext.documents._mean_vectors import *
from skdptext.documents._output import *
from skdptext.documents._reader import *
from skdptext.documents._topics import *
