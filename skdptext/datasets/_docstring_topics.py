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

# A topic, and below it the paths in each library; "." is the library itself.
_TABLE = """\
arrays
  numpy: . lib.recfunctions lib.stride_tricks sklearn: utils utils.validation gensim:
  matutils ot: backend utils
classification and regression
  sklearn: base calibration discriminant_analysis ensemble gaussian_process
  gaussian_process.kernels isotonic kernel_ridge linear_model multiclass multioutput
  naive_bayes neural_network semi_supervised svm tree
clustering
  scipy: cluster.hierarchy cluster.vq sklearn: cluster metrics.cluster mixture ot: gmm
data sets and files
  numpy: lib.format lib.npyio DataSource fromfile fromregex fromstring genfromtxt load
  loadtxt memmap ndarray.dump ndarray.tofile save savetxt savez savez_compressed
  scipy: datasets io io.arff io.wavfile sklearn: datasets gensim: corpora.bleicorpus
  corpora.csvcorpus corpora.indexedcorpus corpora.lowcorpus corpora.malletcorpus
  corpora.mmcorpus corpora.sharded_corpus corpora.svmlightcorpus corpora.textcorpus
  corpora.ucicorpus corpora.wikicorpus downloader scripts.glove2word2vec
  scripts.segment_wiki utils ot: datasets
dimension reduction
  sklearn: cross_decomposition decomposition kernel_approximation manifold
  random_projection gensim: models.lsimodel models.nmf models.rpmodel ot: dr
distances and geometry
  scipy: spatial spatial.distance spatial.transform sklearn: metrics.pairwise
  neighbors gensim: similarities.annoy similarities.docsim similarities.levenshtein
  similarities.termsim
interpolation and integration
  numpy: gradient interp trapezoid scipy: differentiate integrate interpolate
linear algebra
  numpy: linalg cross dot einsum einsum_path inner kron matmul matrix_transpose matvec
  outer tensordot trace vdot vecdot vecmat scipy: linalg linalg.blas
  linalg.interpolative sparse sparse.csgraph sparse.linalg sklearn: utils.extmath
  utils.sparsefuncs
mathematical functions
  numpy: lib.scimath polynomial polynomial.chebyshev polynomial.hermite
  polynomial.laguerre polynomial.legendre polynomial.polynomial arccos arccosh arcsin
  arcsinh arctan arctan2 arctanh cbrt cos cosh exp exp2 expm1 heaviside hypot i0 log
  log10 log1p log2 logaddexp logaddexp2 poly poly1d polyadd polyder polydiv polyfit
  polyint polymul polysub polyval power roots sin sinh sqrt tan tanh scipy: special
model evaluation
  sklearn: dummy inspection metrics model_selection gensim: models.callbacks
  models.coherencemodel topic_coherence.direct_confirmation_measure
  topic_coherence.indirect_confirmation_measure topic_coherence.probability_estimation
  topic_coherence.segmentation topic_coherence.text_analysis
optimal transport
  scipy: optimize.linear_sum_assignment stats.energy_distance
  stats.wasserstein_distance stats.wasserstein_distance_nd ot: . batch bregman coot da
  factored gaussian gromov lowrank lp mapping partial sliced smooth solvers stochastic
  unbalanced weak
optimisation
  scipy: optimize ot: optim regpath
preprocessing
  sklearn: compose feature_extraction feature_selection impute pipeline preprocessing
  gensim: models.logentropy_model models.normmodel models.tfidfmodel
  parsing.preprocessing
signals and images
  numpy: fft bartlett blackman convolve correlate hamming hanning kaiser sinc unwrap
  scipy: fft ndimage signal signal.windows sklearn: feature_extraction.image
statistics
  numpy: random average bincount corrcoef cov digitize histogram histogram2d
  histogram_bin_edges histogramdd mean median nanmean nanmedian nanpercentile
  nanquantile nanstd nanvar percentile ptp quantile std var scipy: stats
  stats.contingency stats.qmc stats.sampling sklearn: covariance utils.random
text
  numpy: strings sklearn: feature_extraction.text gensim: corpora.dictionary
  corpora.hashdictionary models.atmodel models.bm25model models.doc2vec
  models.ensemblelda models.fasttext models.hdpmodel models.keyedvectors
  models.ldamodel models.ldamulticore models.ldaseqmodel models.phrases
  models.poincare models.translation_matrix models.word2vec parsing.porter
"""

TOPIC_OF: dict[str, str] = {}
for _line in _TABLE.splitlines():
    if not _line.startswith(" "):
        _topic = _line
        continue
    for _word in _line.split():
        if _word.endswith(":"):
            _library = _word
        else:
            TOPIC_OF[f"{_library[:-1]}.{_word}".rstrip(".")] = _topic
