"""What a small model is reminded of: code for what is asked, with the tables and columns that are there."""

from __future__ import annotations

import pytest

from hdsp_agent.agent.lite._mentioned_tables import columns_named, meant_table, tables_in
from hdsp_agent.agent.lite._recipes import reminder

TRIPS = (
    "Files:\ntrips.csv: columns driver text, city text, distance float, fare float\nshops.csv: columns shop text, size int\n"
    "Cell 1 (ran):\nimport pandas as pd\n\ncars = pd.read_csv('cars.csv')\nVariables:\n"
    "cars: DataFrame of 9 rows, columns: brand str, price float64, length int64, year int64"
)
CARS = TRIPS.partition("\n")[2].partition("shops.csv")[2].partition("\n")[2]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("total price per brand", "cars.groupby('brand')['price'].sum()"),
        ("average length by year", "cars.groupby('year')['length'].mean()"),
        ("how many cars of each brand?", "cars['brand'].value_counts()"),
        ("bar chart of the mean price for each brand", "cars.groupby('brand')['price'].mean().plot.bar()\nplt.show()"),
        ("pie chart: number of cars per brand", "cars['brand'].value_counts().plot.pie()\nplt.show()"),
        ("which brand has the highest price?", "cars.loc[cars['price'].idxmax(), 'brand']"),
        ("what's the cheapest brand?", "cars.loc[cars['price'].idxmin(), 'brand']"),
        ("the maximum price", "cars['price'].max()"),
        ("which brand occurs the most?", "cars['brand'].value_counts().idxmax()"),
        ("show the cars longer than 400", "cars[cars['length'] > 400]"),
        ("how many cars have a price below 9.5", "len(cars[cars['price'] < 9.5])"),
        ("cars with year >= 2010", "cars[cars['year'] >= 2010]"),
        ("sort cars by price, highest first", "cars.sort_values('price', ascending=False)"),
        ("which brands are there?", "cars['brand'].unique()"),
        ("how many different brands?", "cars['brand'].nunique()"),
        ("missing values of cars", "cars.isna().sum()"),
        ("which columns have missing values", "cars.columns[cars.isna().any()].tolist()"),
        ("cars의 결측치 개수", "cars.isna().sum()"),
        ("drop rows with missing values from cars", "cars = cars.dropna()\ncars"),
        ("fill missing price with the median price", "cars['price'] = cars['price'].fillna(cars['price'].median())"),
        ("any duplicates in cars?", "cars.duplicated().sum()"),
        ("first three rows of cars", "cars.head(3)"),
        ("the last 4 rows", "cars.tail(4)"),
        ("how many rows and columns?", "cars.shape"),
        ("how many rows", "len(cars)"),
        ("describe cars", "cars.describe()"),
        ("types of the columns", "cars.dtypes"),
        ("correlation of price and length", "cars['price'].corr(cars['length'])"),
        ("scatter price against length", "plt.scatter(cars['price'], cars['length'])\nplt.show()"),
        ("plot price over year", "plt.plot(cars['year'], cars['price'])\nplt.show()"),
        ("histogram of the lengths", "plt.hist(cars['length'])\nplt.show()"),
        ("mean of the price column", "cars['price'].mean()"),
        # What has to be read first.
        ("load shops.csv", "shops = pd.read_csv('shops.csv')"),
        ("fare per city in trips.csv", "trips = pd.read_csv('trips.csv')\ntrips.groupby('city')['fare'].sum()"),
    ],
)
def test_code_is_told_for_what_is_asked_of_a_table(words: str, code: str) -> None:
    assert reminder(words, TRIPS) == f"The usual way:\n{code}"


@pytest.mark.parametrize(
    "words",
    [
        "fix the error",
        "rename cars to autos",
        "explain what this notebook does",
        "delete the last cell",
        "plot a cosine",
        "write a function that adds two numbers",
        "change cell 1",
    ],
)
def test_nothing_is_told_where_no_table_is_asked_about(words: str) -> None:
    assert reminder(words, CARS) is None


def test_a_table_that_is_to_be_made_is_told() -> None:
    told = reminder("create a dataframe with columns x, y and z and 4 rows of random numbers", "The notebook is empty.")
    assert told is not None and told.count("np.random.rand(4)") == 3 and "'z'" in told
    assert reminder("create a list", "The notebook is empty.") is None


def test_the_table_is_found_by_file_name_or_columns() -> None:
    tables = tables_in(TRIPS)
    assert [table.name for table in tables] == ["cars", "trips", "shops"]
    for words, name in (("open trips.csv", "trips"), ("show cars", "cars"), ("sum it up", "cars")):
        table = meant_table(words, tables)
        assert table is not None and table.name == name
    files = tables[1:]
    assert meant_table("the fares", files) == files[0] and meant_table("show it", files) is None


def test_columns_are_named_in_other_forms_but_not_by_articles() -> None:
    table = tables_in("t: DataFrame of 3 rows, columns: a int64, b int64, unit_price float64, city str")[0]
    assert columns_named("unit prices of all cities", table) == ["unit_price", "city"]
    assert columns_named("a mean of b", table) == ["b"]
    assert columns_named("the mean of column a", table) == ["a"]


def test_a_file_that_was_read_is_the_variable() -> None:
    told = "Files:\ncars.csv: columns brand text\nCell 1 (ran):\ncars = pd.read_csv('cars.csv')\nVariables:\n"
    told += "cars: DataFrame of 9 rows, columns: brand str"
    assert [table.file for table in tables_in(told)] == [None]
