"""Small helpers with no knowledge of words or mechanisms."""

from skdptext.utils._bisect import bisect
from skdptext.utils._blocks import blocks, runs, working_memory_bytes
from skdptext.utils._compiled import LoadedOnce, compile_loops
from skdptext.utils._files import delete_abandoned, replacing
from skdptext.utils._html import DocLinked, Fragment, bullets, page, paragraph, table
from skdptext.utils._inputs import (
    as_array,
    check_document,
    check_matrix,
    is_column_of_documents,
    is_count_matrix,
    plain_documents,
)
from skdptext.utils._memo import Memo, memo_property
from skdptext.utils._labels import as_labels, check_labels, sums_by_label
from skdptext.utils._lines import rounded_up, wrapped
from skdptext.utils._locks import ProcessLock
from skdptext.utils._optional import import_gensim, import_pandas, import_pyarrow
from skdptext.utils._progress import progress, progress_bar, show_progress
from skdptext.utils._random import (
    NoiseStreams,
    SecretSeed,
    check_document_ids,
    check_noise_state,
    check_rng,
    keyed_generators,
)
from skdptext.utils._repeatable import REPEATABLE, warn_of_repeats
from skdptext.utils._threads import blas_threads, limit_blas_threads
from skdptext.utils._tuned_on import check_tuned_on, warn_of_private_tuning
from skdptext.utils._validation import (
    MAX_WHOLE_WORDS,
    MAX_WORDS,
    check_bags,
    check_flag,
    check_integer,
    check_n_jobs,
    check_numbers,
    check_option,
    check_real,
    kind_of,
    shown,
    shown_words,
)
from skdptext.utils._warnings import warn_once

__all__ = [
    "MAX_WHOLE_WORDS",
    "MAX_WORDS",
    "REPEATABLE",
    "DocLinked",
    "Fragment",
    "LoadedOnce",
    "Memo",
    "NoiseStreams",
    "ProcessLock",
    "SecretSeed",
    "as_array",
    "as_labels",
    "bisect",
    "blas_threads",
    "blocks",
    "bullets",
    "check_bags",
    "check_document",
    "check_document_ids",
    "check_flag",
    "check_integer",
    "check_labels",
    "check_matrix",
    "check_n_jobs",
    "check_noise_state",
    "check_numbers",
    "check_option",
    "check_real",
    "check_rng",
    "check_tuned_on",
    "compile_loops",
    "delete_abandoned",
    "import_gensim",
    "import_pandas",
    "import_pyarrow",
    "is_column_of_documents",
    "is_count_matrix",
    "keyed_generators",
    "kind_of",
    "limit_blas_threads",
    "memo_property",
    "page",
    "paragraph",
    "plain_documents",
    "progress",
    "progress_bar",
    "replacing",
    "rounded_up",
    "runs",
    "show_progress",
    "shown",
    "shown_words",
    "sums_by_label",
    "table",
    "warn_of_private_tuning",
    "warn_of_repeats",
    "warn_once",
    "working_memory_bytes",
    "wrapped",
]
