"""Matches lists one to one with the algorithm of munkres 1.1.4, which was used to compute the published scores.

Among equally good matchings, the choice of munkres depends on the order in which it looks for zeros and on the order in
which it adds and subtracts floats, so another version of munkres may produce different scores for nested values.
munkres is by Brian M. Clapper (Apache-2.0, https://software.clapper.org/munkres/). This module is a new implementation
that names the six steps of the algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence

Place = tuple[int, int]  # a row and a column
Matrix = list[list[float]]  # a row for each item of the reference, a column for each item of the prediction


def match(weights: Sequence[Sequence[float]]) -> list[Place]:
    """Assign a different column to each row so as to maximize the sum of the weights.

    Args:
        weights: a table with at least one row and one column.

    Returns:
        Pairs of a row and a column, sorted by row. If there are more rows than columns, some rows are left out.

    Example:
        >>> match([[0.9, 0.8], [0.7, 0.1], [0.2, 0.3]])
        [(0, 1), (1, 0)]
    """
    width = len(weights[0])
    size = max(len(weights), width)
    costs, zeros = _make_costs(weights, size)
    star_in_row, star_in_column = [-1] * size, [-1] * size
    free = (1 << size) - 1  # the columns without a star, as bits
    for row, of_row in enumerate(zeros):  # Step 2: star each zero whose row and column have no star yet
        open_zeros = of_row & free
        if open_zeros:
            column = (open_zeros & -open_zeros).bit_length() - 1
            star_in_row[row], star_in_column[column] = column, row
            free ^= 1 << column
    while free:  # Step 3: until each column has a star
        row, column, primes = _find_prime_without_star(costs, zeros, star_in_row, free)
        # Step 5: along the path that begins at this prime, primes become stars and stars are removed.
        while row >= 0:
            before = star_in_column[column]
            star_in_row[row], star_in_column[column] = column, row
            last, row, column = column, before, primes[before]
        free ^= 1 << last
    return [(row, column) for row, column in enumerate(star_in_row[: len(weights)]) if column < width]


def _make_costs(weights: Sequence[Sequence[float]], size: int) -> tuple[Matrix, list[int]]:
    """Step 1: make a square table of costs from the weights and subtract from each row its lowest cost.

    Also returns the columns with cost 0 in each row, as bits.
    """
    most, padding = max(map(max, weights)), [0.0] * (size - len(weights[0]))
    costs = []
    for of_row in weights:
        least = 0.0 if padding else most - max(of_row)
        costs.append([most - weight - least for weight in of_row] + padding)
    zeros = list(map(_find_zeros, costs)) + [(1 << size) - 1] * (size - len(costs))
    costs += [[0.0] * size for _ in range(size - len(costs))]
    return costs, zeros


def _find_zeros(costs: list[float]) -> int:
    zeros, column = 0, -1
    for _ in range(costs.count(0.0)):
        column = costs.index(0.0, column + 1)
        zeros |= 1 << column
    return zeros


def _find_prime_without_star(
    costs: Matrix, zeros: list[int], star_in_row: list[int], uncovered: int
) -> tuple[int, int, list[int]]:
    """Steps 4 and 6: prime zeros until one has no star in its row. Returns the row and column of this zero, and the
    column of the prime in each row.
    """
    size = len(costs)
    primes, covered = [-1] * size, [False] * size
    start = column = 0
    while True:
        # munkres searches from its last place on, wrapping around. It takes the first row with an open zero and the
        # last open zero in that row.
        for row in (*range(start, size), *range(start)):
            if zeros[row] & uncovered and not covered[row]:
                break
        else:
            _reduce_costs(costs, zeros, covered, uncovered)
            start = column = 0
            continue
        open_zeros = zeros[row] & uncovered
        before = open_zeros & ((1 << column) - 1)
        column = (before or open_zeros).bit_length() - 1
        primes[row] = column
        if star_in_row[row] < 0:
            return row, column, primes
        covered[row], start, column = True, row, star_in_row[row]
        uncovered |= 1 << column


def _reduce_costs(costs: Matrix, zeros: list[int], covered: list[bool], uncovered: int) -> None:
    """Step 6: add the lowest uncovered cost to covered rows and subtract it from uncovered columns."""
    columns = [column for column in range(len(costs)) if uncovered >> column & 1]
    open_rows = [row for row, is_covered in zip(costs, covered) if not is_covered]
    least = min([min([row[column] for column in columns]) for row in open_rows])
    for place, row in enumerate(costs):
        if covered[place]:
            row[:] = [cost + least for cost in row]
            zeros[place] = 0
        for column in columns:
            row[column] -= least
            if not row[column]:
                zeros[place] |= 1 << column
