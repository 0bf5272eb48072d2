"""Small helpers with no knowledge of words or mechanisms."""

# The doors of rooms with public names list what they offer. This room has none, and no
# page: whatever is not private is for all others.
from skdptext.utils._intervals import *
from skdptext.utils._messages import *
from skdptext.utils._system import *
from skdptext.utils._validation import *
