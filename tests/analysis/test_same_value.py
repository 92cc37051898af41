"""Values that are written differently: a row for each form, and rows that must not match. All are made up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anls_metric.analysis.same_value import MAX_LENGTH, NUMBER_WORDS, UNITS, is_any_same_value, read_value

# A text = the same value, written differently.
SAME = """
    977,633 = 977633            1,08,35,696 = 10835696       1'234'567 = 1,234,567         1’234 = 1234
    1.234.567 = 1234567         1.234,56 = 1,234.56          12,5 = 12.5                   0,234 = 0.234
    .5 = 0.5                    5. = 5                       12.50 = 12.5                  5.0 = 5
    $0.00 = 0                   07.50 = 07.5                 1,500.00 = 1500               −13% = -13 percent
    -$5 = $-5.00                +5 = 5                       27 percent = 27%              27 per cent = 27 %
    $ 5 = 5 dollars             $5 million dollars = $5000000                              Rs.500 = 500
    Rs. 500 = ₹500              USD 5 = $5                   US$5 = $5                     10 years = 10
    10-year = 10                10 yrs. = 10 Years           25 sq. ft. = 25 square feet   5960 C = 5960

    ten = 10                    Ten. = 10                    Fifteen = 15                  two pages = 2
    1.3 billion = $1,300,000,000                             $1.5 million = 1500000 dollars
    5 thousand = 5,000          two hundred = 200

    December 15, 1988 = 15 Dec 1988                          12/15/88 = December 15, 1988
    12-15-1988 = 12/15/88       15.12.1988 = 12/15/1988      1988-12-15 = 15th of December, 1988
    Jan17'68 = January 17, 1968                              FEB - 8 2010 = 2010/2/8
    15-Dec-88 = Dec. 15, '88    3/4/98 = 03/04/1998          4/4/98 = April 4, 1998        4 Feb = Feb 4th
    Wednesday, May 3, 2006 = May 3, 2006                     Tues. Feb. 4 = Tuesday, February 4
    March, 1971 = Mar 1971      3/1971 = March 1971          March '71 = March 1971        May '12 = May 2012
    Sept. 1971 = September 1971
"""

# Two texts with different values, or without a value.
DIFFERENT = """
    12 = 12.5                   12 = 120                     1,234 = 1.234                 1.234 = 1234
    12,34 = 1234                1,2,3 = 123                  0,123,456 = 123456            -5 = 5
    (5) = -5                    5- = 5                       --5 = -5                      27% = 0.27
    27% = $27                   $27 = €27                    10 years = 10 months          5 pounds = £5
    5 million = 5               5 m = 5                      5k = 5                        10 a.m. = 10
    5th = 5                     years 5 = 5                  $5 euros = 5

    007 = 7                     00 = 0                       000123 = 123                  24c = 24
    no. 5 = 5                   555-1234 = 5551234           (910) 765-3630 = 9107653630   555 123 = 555123
    192.168.0.1 = 19216801      10:30 = 10.30                1/2 = 0.5                     5-6 = 5
    5 or 6 = 5                  5 main street = 5

    1998 = 1,998                1998 = 1998.0                1998 = $1998                  1998 = 98
    1998 = May 1998             1998 = 5 May 1998            1998-99 = 1998

    3/4/98 = 4/3/98             3/4/98 = March 4, 1998       3/4/98 = April 3, 1998        12 March = 12
    March 12 = March 1912       May 3, 2006 = May 3          May 3, 2006 = May 2006        May 3, 2006 = May 3, 2007
    May 3, 1906 = May 3, 2006   13/13/88 = 13/13/1988        1988-00-15 = 1988-0-15        32 May = May 32

    Paris = paris               March 1971 = March 1, 1971   foo 5, 1988 = foo 5 1988      five-star hotel = 5
    someone = 1
"""


def list_pairs(table: str) -> list[list[str]]:
    """List the pairs of a table; two blanks or more are between pairs."""
    cells = [cell for line in table.splitlines() for cell in line.strip().split("  ") if cell.strip()]
    return [cell.strip().split(" = ") for cell in cells]


@pytest.mark.parametrize(("text", "other"), [*list_pairs(SAME), (" 5 ", "5.0")])
def test_same_value_is_written_otherwise(text: str, other: str) -> None:
    assert is_any_same_value(text, [other])
    assert is_any_same_value(other, [text])


@pytest.mark.parametrize(("text", "other"), [*list_pairs(DIFFERENT), ("", ""), ("5" * (MAX_LENGTH + 1),) * 2])
def test_other_value_is_not_the_same(text: str, other: str) -> None:
    assert not is_any_same_value(text, [other])
    assert not is_any_same_value(other, [text])


def test_each_word_of_the_tables_is_read_and_belongs_to_one_row() -> None:
    ways = [(way, names.split(", ")[0]) for names in UNITS.values() for way in names.split(", ")]
    assert [way for way, first in ways if not is_any_same_value(f"5 {way}", [f"5 {first}"])] == []
    assert [way for way, _ in ways if not is_any_same_value(f"5 {way}", ["5"])] == []
    assert len(ways) == len(dict(ways))
    assert [is_any_same_value(word, [number]) for word, number in NUMBER_WORDS.items()] == [True] * 21


@given(st.text(st.sampled_from("0123456789.,'-+$% /maychyr"), max_size=12), st.text(max_size=8))
def test_reading_any_text_is_symmetric_and_never_fails(text: str, other: str) -> None:
    assert is_any_same_value(text, [other]) == is_any_same_value(other, [text])
    assert read_value(text) is None or is_any_same_value(text, [text])
