"""Which public modules make up the docstring corpus, and the topic of each.

Only the modules listed here are visited. A listed path that is not a module moves one
object, and its methods, to another topic: the longest listed path that a document's
name starts with decides. Modules that only repeat another's text (``numpy.ma``,
``numpy.char``, ``scipy.fftpack``, ``scipy.stats.mstats``), tests and plotting are left
out.
"""

from __future__ import annotations

# import name -> name of the distribution, which is what users call the library
AUTHORS = {
    "gensim": "gensim",
    "numpy": "numpy",
    "ot": "POT",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
}


def _under(module: str, names: str) -> list[str]:
    """Dotted paths of objects of one module."""
    return [f"{module}.{name}" for name in names.split()]


TOPICS: dict[str, list[str]] = {
    "arrays": [
        "numpy",
        "numpy.lib.recfunctions",
        "numpy.lib.stride_tricks",
        "sklearn.utils",
        "sklearn.utils.validation",
        "gensim.matutils",
        "ot.backend",
        "ot.utils",
    ],
    "classification and regression": [
        "sklearn.base",
        "sklearn.calibration",
        "sklearn.discriminant_analysis",
        "sklearn.ensemble",
        "sklearn.gaussian_process",
        "sklearn.gaussian_process.kernels",
        "sklearn.isotonic",
        "sklearn.kernel_ridge",
        "sklearn.linear_model",
        "sklearn.multiclass",
        "sklearn.multioutput",
        "sklearn.naive_bayes",
        "sklearn.neural_network",
        "sklearn.semi_supervised",
        "sklearn.svm",
        "sklearn.tree",
    ],
    "clustering": [
        "scipy.cluster.hierarchy",
        "scipy.cluster.vq",
        "sklearn.cluster",
        "sklearn.metrics.cluster",
        "sklearn.mixture",
        "ot.gmm",
    ],
    "data sets and files": [
        "numpy.lib.format",
        "numpy.lib.npyio",
        *_under(
            "numpy",
            "DataSource fromfile fromregex fromstring genfromtxt load loadtxt "
            "memmap ndarray.dump ndarray.tofile save savetxt savez "
            "savez_compressed",
        ),
        "scipy.datasets",
        "scipy.io",
        "scipy.io.arff",
        "scipy.io.wavfile",
        "sklearn.datasets",
        "gensim.corpora.bleicorpus",
        "gensim.corpora.csvcorpus",
        "gensim.corpora.indexedcorpus",
        "gensim.corpora.lowcorpus",
        "gensim.corpora.malletcorpus",
        "gensim.corpora.mmcorpus",
        "gensim.corpora.sharded_corpus",
        "gensim.corpora.svmlightcorpus",
        "gensim.corpora.textcorpus",
        "gensim.corpora.ucicorpus",
        "gensim.corpora.wikicorpus",
        "gensim.downloader",
        "gensim.scripts.glove2word2vec",
        "gensim.scripts.segment_wiki",
        "gensim.utils",
        "ot.datasets",
    ],
    "dimension reduction": [
        "sklearn.cross_decomposition",
        "sklearn.decomposition",
        "sklearn.kernel_approximation",
        "sklearn.manifold",
        "sklearn.random_projection",
        "gensim.models.lsimodel",
        "gensim.models.nmf",
        "gensim.models.rpmodel",
        "ot.dr",
    ],
    "distances and geometry": [
        "scipy.spatial",
        "scipy.spatial.distance",
        "scipy.spatial.transform",
        "sklearn.metrics.pairwise",
        "sklearn.neighbors",
        "gensim.similarities.annoy",
        "gensim.similarities.docsim",
        "gensim.similarities.levenshtein",
        "gensim.similarities.termsim",
    ],
    "interpolation and integration": [
        "scipy.differentiate",
        "scipy.integrate",
        "scipy.interpolate",
        *_under("numpy", "gradient interp trapezoid"),
    ],
    "linear algebra": [
        "numpy.linalg",
        *_under(
            "numpy",
            "cross dot einsum einsum_path inner kron matmul matrix_transpose matvec "
            "outer tensordot trace vdot vecdot vecmat",
        ),
        "scipy.linalg",
        "scipy.linalg.blas",
        "scipy.linalg.interpolative",
        "scipy.sparse",
        "scipy.sparse.csgraph",
        "scipy.sparse.linalg",
        "sklearn.utils.extmath",
        "sklearn.utils.sparsefuncs",
    ],
    "mathematical functions": [
        "numpy.lib.scimath",
        "numpy.polynomial",
        "numpy.polynomial.chebyshev",
        "numpy.polynomial.hermite",
        "numpy.polynomial.laguerre",
        "numpy.polynomial.legendre",
        "numpy.polynomial.polynomial",
        *_under(
            "numpy",
            "arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt cos cosh "
            "exp exp2 expm1 heaviside hypot i0 log log10 log1p log2 logaddexp "
            "logaddexp2 poly poly1d polyadd polyder polydiv polyfit polyint polymul "
            "polysub polyval power roots sin sinh sqrt tan tanh",
        ),
        "scipy.special",
    ],
    "model evaluation": [
        "sklearn.dummy",
        "sklearn.inspection",
        "sklearn.metrics",
        "sklearn.model_selection",
        "gensim.models.callbacks",
        "gensim.models.coherencemodel",
        "gensim.topic_coherence.direct_confirmation_measure",
        "gensim.topic_coherence.indirect_confirmation_measure",
        "gensim.topic_coherence.probability_estimation",
        "gensim.topic_coherence.segmentation",
        "gensim.topic_coherence.text_analysis",
    ],
    "optimal transport": [
        "ot",
        "ot.batch",
        "ot.bregman",
        "ot.coot",
        "ot.da",
        "ot.factored",
        "ot.gaussian",
        "ot.gromov",
        "ot.lowrank",
        "ot.lp",
        "ot.mapping",
        "ot.partial",
        "ot.sliced",
        "ot.smooth",
        "ot.solvers",
        "ot.stochastic",
        "ot.unbalanced",
        "ot.weak",
        "scipy.optimize.linear_sum_assignment",
        "scipy.stats.energy_distance",
        "scipy.stats.wasserstein_distance",
        "scipy.stats.wasserstein_distance_nd",
    ],
    "optimisation": [
        "scipy.optimize",
        "ot.optim",
        "ot.regpath",
    ],
    "preprocessing": [
        "sklearn.compose",
        "sklearn.feature_extraction",
        "sklearn.feature_selection",
        "sklearn.impute",
        "sklearn.pipeline",
        "sklearn.preprocessing",
        "gensim.models.logentropy_model",
        "gensim.models.normmodel",
        "gensim.models.tfidfmodel",
        "gensim.parsing.preprocessing",
    ],
    "signals and images": [
        "numpy.fft",
        *_under(
            "numpy",
            "bartlett blackman convolve correlate hamming hanning kaiser sinc unwrap",
        ),
        "scipy.fft",
        "scipy.ndimage",
        "scipy.signal",
        "scipy.signal.windows",
        "sklearn.feature_extraction.image",
    ],
    "statistics": [
        "numpy.random",
        *_under(
            "numpy",
            "average bincount corrcoef cov digitize histogram histogram2d "
            "histogram_bin_edges histogramdd mean median nanmean nanmedian "
            "nanpercentile nanquantile nanstd nanvar percentile ptp quantile std var",
        ),
        "scipy.stats",
        "scipy.stats.contingency",
        "scipy.stats.qmc",
        "scipy.stats.sampling",
        "sklearn.covariance",
        "sklearn.utils.random",
    ],
    "text": [
        "numpy.strings",
        "sklearn.feature_extraction.text",
        "gensim.corpora.dictionary",
        "gensim.corpora.hashdictionary",
        "gensim.models.atmodel",
        "gensim.models.bm25model",
        "gensim.models.doc2vec",
        "gensim.models.ensemblelda",
        "gensim.models.fasttext",
        "gensim.models.hdpmodel",
        "gensim.models.keyedvectors",
        "gensim.models.ldamodel",
        "gensim.models.ldamulticore",
        "gensim.models.ldaseqmodel",
        "gensim.models.phrases",
        "gensim.models.poincare",
        "gensim.models.translation_matrix",
        "gensim.models.word2vec",
        "gensim.parsing.porter",
    ],
}
