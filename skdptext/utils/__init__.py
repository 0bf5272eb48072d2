"""Small helpers with no knowledge of words or mechanisms."""

# Subpackages with public names list them. This one has none, and no page: all its names
# without an underscore are for the other subpackages.
from skdptext.utils._intervals import *
from skdptext.utils._messages import *
from skdptext.utils._system import *
from skdptext.utils._validation import *
