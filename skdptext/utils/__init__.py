"""Small helpers with no knowledge of words or mechanisms."""

from skdptext.utils._validation import (
    as_array as as_array,
    as_labels as as_labels,
    check_authors as check_authors,
    check_document as check_document,
    check_classes as check_classes,
    check_labels as check_labels,
    check_matrix as check_matrix,
    check_prior as check_prior,
    is_column_of_documents as is_column_of_documents,
    is_count_matrix as is_count_matrix,
    plain_documents as plain_documents,
    sums_by_label as sums_by_label,
)
from skdptext.utils._intervals import (
    half_width as half_width,
    log_ratio_bound as log_ratio_bound,
    mean_interval as mean_interval,
    pair_interval as pair_interval,
    share_interval as share_interval,
    split_interval as split_interval,
)
from skdptext.utils._messages import (
    REPEATABLE as REPEATABLE,
    SITE as SITE,
    DocLinked as DocLinked,
    Fragment as Fragment,
    bullets as bullets,
    check_tuned_on as check_tuned_on,
    details as details,
    lined_up as lined_up,
    odds_factor as odds_factor,
    page as page,
    paragraph as paragraph,
    percent_up as percent_up,
    progress as progress,
    progress_bar as progress_bar,
    quiet as quiet,
    rounded_up as rounded_up,
    show_progress as show_progress,
    table as table,
    warn_of_private_tuning as warn_of_private_tuning,
    warn_of_repeats as warn_of_repeats,
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
    NoiseStreams as NoiseStreams,
    SecretSeed as SecretSeed,
    check_document_ids as check_document_ids,
    check_noise_state as check_noise_state,
    check_rng as check_rng,
)
from skdptext.utils._risk import (
    FEWEST_CASES as FEWEST_CASES,
    Excess as Excess,
    Membership as Membership,
    auc as auc,
    auc_interval as auc_interval,
    epsilon_bound as epsilon_bound,
    membership as membership,
    minus_control as minus_control,
    recall_when_sure as recall_when_sure,
)
from skdptext.utils._system import (
    Memo as Memo,
    Threads as Threads,
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
    check_bags as check_bags,
    check_flag as check_flag,
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
    shown as shown,
    shown_words as shown_words,
)

# Names of the form `x as x` are for the rooms beside, and have no page.
