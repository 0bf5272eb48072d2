"""Reading and writing tables: Parquet, CSV and JSON lines, in bounded memory."""

from skdptext.files._formats import (
    FORMATS as FORMATS,
    SUFFIXES as SUFFIXES,
    Input as Input,
    check_writable as check_writable,
    column_names as column_names,
    find_inputs as find_inputs,
    is_found_in as is_found_in,
    read_columns as read_columns,
    table_writer as table_writer,
)
from skdptext.files._types import (
    CastError as CastError,
    converted as converted,
    type_shown as type_shown,
)

# Names of the form `x as x` are for the rooms beside, and have no page.
