"""Reading documents: they become words of an embedding, or points among topics."""

from skdptext.documents._alone import check_rows_alone as check_rows_alone
from skdptext.documents._known_texts import (
    KnownTexts as KnownTexts,
    are_shared_texts_counted as are_shared_texts_counted,
    shared_texts_counted as shared_texts_counted,
)
from skdptext.documents._mean_vectors import MeanVectorEncoder as MeanVectorEncoder
from skdptext.documents._output import (
    ColumnOutput as ColumnOutput,
    as_column as as_column,
    as_frame as as_frame,
    row_keys as row_keys,
)
from skdptext.documents._reader import (
    DocumentReader as DocumentReader,
    EncodedDocuments as EncodedDocuments,
    in_blocks as in_blocks,
    public_list as public_list,
    read_documents as read_documents,
    read_release as read_release,
    resample as resample,
    some_word_ids as some_word_ids,
    warn_without_words as warn_without_words,
    word_ids as word_ids,
    words_of as words_of,
)
from skdptext.documents._topics import topic_encoder as topic_encoder

# Names of the form `x as x` are for the rooms beside, and have no page.
