"""ANLS* and ANLSL, the scores for answers that are lists or nested values, as in invoices, forms and tables.

A value is a string, a number, a bool, None, or a list or dict of values. In a reference, a tuple holds alternatives.
Each leaf is scored as a string (variant "standard"). Dicts are compared key by key. List items are matched one to one,
in the best order. ANLS* is the sum of the leaf scores divided by the number of leaves. ANLSL does the same for two
lists of strings, by the leaderboard's rule (variant "rrc").

Both reproduce the published programs exactly: anls_star 1.0.1 and DUDE's script, with munkres 1.1.4. If several orders
of a list are equally good, the search order of munkres decides, so another version of munkres may produce different
scores. From Python 3.12 on, the originals add floats differently and may differ in the last bit. On every version of
Python, this package adds them as older versions did.

The modules, from the ground up; each imports only modules above it:

* `row_scores`: the score of a row and how floats are added;
* `matching`: the assignment algorithm of munkres 1.1.4;
* `trees`, `lists`: values as trees and how they compare;
* `tree_builder`: builds trees from values and rejects those that cannot be scored;
* `list_scores`: matches lists of strings for ANLSL;
* `leaves`: lists leaves with the outcome of each: right, close, wrong, missed, invented or blank;
* `star_explanation`: explains a score;
* `value_variants`: ANLS* and ANLSL as variants, with their options;
* `value_scores`: the public functions;
* `json_values`: values as JSON.

Sources: Peer et al., "ANLS* - A Universal Document Processing Metric for Generative Large Language Models", 2024,
https://arxiv.org/abs/2402.03848; Tito et al., "Document Collection Visual Question Answering", ICDAR 2021,
https://arxiv.org/abs/2104.14336; Van Landeghem et al., "Document Understanding Dataset and Evaluation (DUDE)", ICCV
2023, https://arxiv.org/abs/2305.08455.
"""

from anls_metric.core.json_values import from_json, to_json
from anls_metric.core.values.leaves import LEAF_OUTCOMES, LeafOutcome, ScoredLeaf
from anls_metric.core.values.row_scores import RowScore
from anls_metric.core.values.star_explanation import Branch, KeyScore, Leaf, StarExplanation
from anls_metric.core.values.value_scores import anls_star_score, anls_star_scores, anlsl_score, explain_star
from anls_metric.core.values.value_variants import (
    VALUE_VARIANTS,
    Average,
    KeyPaths,
    NoneKeys,
    Numbers,
    ValueVariant,
)

__all__ = [
    "LEAF_OUTCOMES",
    "VALUE_VARIANTS",
    "Average",
    "Branch",
    "KeyPaths",
    "KeyScore",
    "Leaf",
    "LeafOutcome",
    "NoneKeys",
    "Numbers",
    "RowScore",
    "ScoredLeaf",
    "StarExplanation",
    "ValueVariant",
    "anls_star_score",
    "anls_star_scores",
    "anlsl_score",
    "explain_star",
    "from_json",
    "to_json",
]
