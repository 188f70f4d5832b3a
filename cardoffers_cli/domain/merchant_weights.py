"""How much each feature speaks for a merchant, in log-odds (rules.md#suggestions).

Fitted by `tests/benchmarks/merchants.py --fit` on 773 descriptions of a public list of purchasing
cards of 2010, held against 4,875 merchants, each with its merchant in the catalogue and without.
Cross-validated by merchant, in five parts:

    probability at least   answered   right    95 % interval
                    0.90     36.6 %   99.6 %   98.0 to 99.9 %
                    0.80     85.0 %   99.8 %   99.1 to 100 %
                    0.50     89.1 %   98.8 %   97.7 to 99.4 %

and 98 % are right of the likeliest 92.0 %. Without the numbers that have ten names or more, 134
are left: at least 0.80: 20.1 %, 96.3 % right; at least 0.50: 44.0 %, 86.4 % right, so that among
names that differ a likelihood is a little less than it says. The features and the strength of the
ridge were chosen by these figures, and no part of the list was held out: on names never seen they
may be lower. Nor are the descriptions independent, as the intervals take them to be: 639 are of
nine numbers. For the one aggregator among the numbers nobody was proposed. The list has neither
category codes nor cardholders; these are shown beside a suggestion, and weigh nothing.
"""

WEIGHTS = {
    "bias": -14.42,
    "begins": 1.27,
    "spelling": 4.32,
    "covered": 0.84,
    "rarest": 10.53,
    "first": 1.99,
    "numbers": 0.19,
    "others": -0.28,
}
EVEN = 0.5
"""Below this probability nothing is suggested."""
