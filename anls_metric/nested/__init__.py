"""ANLS* and ANLSL: the score of answers that are lists and nested values, as in invoices, forms and tables.

A value is a text, a number, a bool, None, a list or a dict of values; a tuple in a reference is one of several. A leaf
scores as a text does (variant "standard"), dicts are compared key by key, lists item by item in the best order, and
ANLS* is the sum of the leaves' scores over their number. ANLSL does the same for two lists of texts, by the rule of the
leaderboard (variant "rrc").

Both are the programs' own numbers, to the bit: anls_star 1.0.1 and DUDE's script, with munkres 1.1.4. Where several
orders of a list are equally good, it is the walk of that program which decides, and with it the score of a nested
value: another version of munkres gives other numbers. From Python 3.12 on the originals add floats in another way, and
may differ in the last bit; here the numbers are those of before, on every version.

The modules, from the ground up; each imports those above it alone:

* `row_scores`: the score of a row, how floats are added, the mean;
* `matching`: the walk of munkres 1.1.4;
* `trees`, `lists`: values as trees, and how they compare;
* `tree_builder`: from values to trees, and errors that say where something cannot be scored;
* `star_explanation`: why a score is what it is;
* `star_scores`, `list_scores`: ANLS* and ANLSL;
* `value_variants`: both as variants, with their options;
* `value_scores`: the functions that score values;
* `json_values`: values as JSON.

Sources: Peer et al., "ANLS* - A Universal Document Processing Metric for Generative Large Language Models", 2024,
https://arxiv.org/abs/2402.03848; Tito et al., "Document Collection Visual Question Answering", ICDAR 2021,
https://arxiv.org/abs/2104.14336; Van Landeghem et al., "Document Understanding Dataset and Evaluation (DUDE)", ICCV
2023, https://arxiv.org/abs/2305.08455.
"""

from anls_metric.nested.json_values import from_json, to_json
from anls_metric.nested.row_scores import Average, RowScore, mean
from anls_metric.nested.star_explanation import KINDS, Branch, KeyScore, Leaf, ListExplanation, StarExplanation
from anls_metric.nested.trees import NoneKeys
from anls_metric.nested.value_scores import (
    anls_star_score,
    anls_star_scores,
    anlsl_score,
    check_rows,
    explain_anlsl,
    explain_star,
    score_rows,
    signature,
)
from anls_metric.nested.value_variants import VALUE_VARIANTS, Metric, ValueVariant, get_value_variant

__all__ = [
    "KINDS",
    "VALUE_VARIANTS",
    "Average",
    "Branch",
    "KeyScore",
    "Leaf",
    "ListExplanation",
    "Metric",
    "NoneKeys",
    "RowScore",
    "StarExplanation",
    "ValueVariant",
    "anls_star_score",
    "anls_star_scores",
    "anlsl_score",
    "check_rows",
    "explain_anlsl",
    "explain_star",
    "from_json",
    "get_value_variant",
    "mean",
    "score_rows",
    "signature",
    "to_json",
]
