"""Small helpers with no knowledge of words or mechanisms."""

from skdptext.utils._inputs import (
    as_array as as_array,
    as_labels as as_labels,
    check_classes as check_classes,
    check_matrix as check_matrix,
    check_prior as check_prior,
    check_told_apart as check_told_apart,
    composed as composed,
    is_column_of_documents as is_column_of_documents,
    is_count_matrix as is_count_matrix,
    plain_documents as plain_documents,
    sums_by_label as sums_by_label,
)
from skdptext.utils._intervals import (
    half_width as half_width,
    lower_limit as lower_limit,
    share_interval as share_interval,
    upper_limit as upper_limit,
)
from skdptext.utils._messages import (
    SITE as SITE,
    DocLinked as DocLinked,
    Fragment as Fragment,
    bullets as bullets,
    check_tuned_on as check_tuned_on,
    lined_up as lined_up,
    page as page,
    percent_up as percent_up,
    progress_bar as progress_bar,
    quiet as quiet,
    rounded_up as rounded_up,
    table as table,
    warn_of_private_tuning as warn_of_private_tuning,
    warn_once as warn_once,
    wrapped as wrapped,
)
from skdptext.utils._system import (
    bisect as bisect,
    blocks as blocks,
    half_squared_norms as half_squared_norms,
    runs as runs,
    sparse_result as sparse_result,
    working_memory_bytes as working_memory_bytes,
)
from skdptext.utils._random import (
    REPEATABLE as REPEATABLE,
    CheckedParameters as CheckedParameters,
    NoiseStreams as NoiseStreams,
    SecretSeed as SecretSeed,
    check_document_ids as check_document_ids,
    check_noise_state as check_noise_state,
    check_number_of_ids as check_number_of_ids,
    check_rng as check_rng,
    warn_of_repeats as warn_of_repeats,
)
from skdptext.utils._system import (
    Memo as Memo,
    blas_threads as blas_threads,
    import_gensim as import_gensim,
    import_pandas as import_pandas,
    import_pyarrow as import_pyarrow,
    limit_blas_threads as limit_blas_threads,
    replacing as replacing,
)
from skdptext.utils._validation import (
    MAX_WHOLE_WORDS as MAX_WHOLE_WORDS,
    MAX_WORDS as MAX_WORDS,
    read_bags as read_bags,
    check_flag as check_flag,
    check_indices as check_indices,
    check_integer as check_integer,
    check_kind as check_kind,
    check_methods as check_methods,
    check_n_jobs as check_n_jobs,
    check_numbers as check_numbers,
    check_option as check_option,
    check_path as check_path,
    check_real as check_real,
    is_fitted as is_fitted,
    kind_of as kind_of,
    name_rows as name_rows,
    refuse_masked as refuse_masked,
    shown as shown,
    shown_words as shown_words,
)

# Names of the form `x as x` are for the rooms beside, and have no page.
