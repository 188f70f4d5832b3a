"""How much each feature speaks for a merchant, in log-odds (rules.md#suggestions).

Fitted by `tests/benchmarks/merchants.py --fit` on 773 descriptions of a public list of purchasing
cards of 2010, held against 4,875 merchants, each with its merchant in the catalogue and without.
Cross-validated by merchant, in five parts:

    probability at least   answered   right    95 % interval
                    0.90     65.6 %   99.8 %   98.9 to 100 %
                    0.80     85.1 %   99.7 %   98.9 to 99.9 %
                    0.50     89.1 %   99.0 %   97.9 to 99.5 %

and 98 % are right of the likeliest 92.8 %. Without the numbers that have ten names or more, 134
are left: at least 0.80: 20.9 %, 92.9 % right; at least 0.50: 44.0 %, 88.1 % right, so that among
names that differ a likelihood is a little less than it says. The features and the strength of the
ridge were chosen by these figures, and no part of the list was held out: on names never seen they
may be lower. Nor are the descriptions independent, as the intervals take them to be: 639 are of
nine numbers. For the one aggregator among the numbers nobody was proposed. The list has neither
category codes nor cardholders; these are shown beside a suggestion, and weigh nothing.
"""

WEIGHTS = {
    "bias": -14.45,
    "spelling": 4.13,
    "covered": 1.34,
    "rarest": 10.31,
    "first": 2.06,
    "numbers": 0.21,
    "others": -0.15,
}
EVEN = 0.5
"""Below this probability nothing is suggested."""
