"""New code that uses no table: functions, and values computed once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from benchmarks.evals import Outcome

from .._errand import Family, Language, Made, Scene
from ._judging import told

__all__ = ["FAMILIES"]


_Choice: TypeAlias = tuple[str, str, Mapping[Language, str], Sequence[tuple[str, object]], str]
"""Name, parameter, what it does, what it gives for which arguments, and its code."""


def _function(choices: Sequence[_Choice], scene: Scene) -> Made:
    """One of these functions is to be written."""
    name, parameter, what, tries, code = scene.rng.choice(list(choices))

    def judge(outcome: Outcome) -> None:
        outcome.added()
        for arguments, right in tries:
            found = outcome.value(f"{name}({arguments})")
            same = (
                abs(found - right) < 1e-6
                if isinstance(found, float) and isinstance(right, (int, float))
                else found == right
            )
            outcome.must(same, f"{name}({arguments}) is {found!r}")

    return Made(
        judge,
        scene.ends(f"def {name}({parameter}):\n    {code}"),
        [scene.ends(f"def {name}({parameter}):\n    return None"), scene.ends(f"def other({parameter}):\n    {code}")],
        {"name": name, "parameter": parameter, "what": what[scene.language]},
        probes=[f"{name}({arguments})" for arguments, _ in tries],
    )


_OF_NUMBERS: Final[tuple[_Choice, ...]] = (
    (
        "second_largest", "values",
        {"en": "the second largest number of a list", "ko": "리스트에서 두 번째로 큰 수", "ja": "リストの中で二番目に大きい数"},
        (("[4, 9, 7]", 7), ("[-1, -5, -3, -2]", -2)), "return sorted(values)[-2]",
    ),
    (
        "sum_of_squares", "values",
        {"en": "the sum of the squares of a list of numbers", "ko": "숫자 리스트의 제곱의 합", "ja": "数のリストの二乗の合計"},
        (("[1, 2, 3]", 14), ("[-4]", 16)), "return sum(value ** 2 for value in values)",
    ),
    (
        "count_even", "values",
        {"en": "how many numbers of a list are even", "ko": "리스트에서 짝수의 개수", "ja": "リストの中の偶数の個数"},
        (("[1, 2, 4, 7, 8]", 3), ("[]", 0)), "return sum(value % 2 == 0 for value in values)",
    ),
    (
        "km_to_miles", "km",
        {"en": "kilometres in miles (one mile is 1.609 km)", "ko": "킬로미터를 마일로 (1마일은 1.609km)", "ja": "キロメートルをマイルで（1マイルは1.609km）"},
        (("16.09", 10.0), ("0", 0)), "return km / 1.609",
    ),
)  # fmt: skip
_OF_TEXTS: Final[tuple[_Choice, ...]] = (
    (
        "count_vowels", "text",
        {"en": "the number of vowels (a, e, i, o, u) in a text", "ko": "문자열의 모음(a, e, i, o, u) 개수", "ja": "文字列の母音（a, e, i, o, u）の数"},
        (("'banana'", 3), ("'xyz'", 0)), "return sum(letter in 'aeiouAEIOU' for letter in text)",
    ),
    (
        "reverse_words", "text",
        {"en": "the words of a text in reverse order", "ko": "문장의 단어 순서를 뒤집은 문자열", "ja": "文の単語の順番を逆にした文字列"},
        (("'one two three'", "three two one"), ("'a'", "a")), "return ' '.join(reversed(text.split()))",
    ),
    (
        "is_palindrome", "text",
        {"en": "whether a text reads the same backwards", "ko": "문자열이 거꾸로 읽어도 같은지 여부", "ja": "文字列が逆から読んでも同じかどうか"},
        (("'level'", True), ("'levels'", False)), "return text == text[::-1]",
    ),
    (
        "initials", "name",
        {"en": "the first letters of the words of a name, in capitals", "ko": "이름의 각 단어 첫 글자를 대문자로", "ja": "名前の各単語の頭文字を大文字で"},
        (("'ada lovelace'", "AL"), ("'Bo'", "B")), "return ''.join(word[0].upper() for word in name.split())",
    ),
)  # fmt: skip


def _of_numbers(scene: Scene) -> Made:
    return _function(_OF_NUMBERS, scene)


def _of_texts(scene: Scene) -> Made:
    return _function(_OF_TEXTS, scene)


def _sum_of_multiples(scene: Scene) -> Made:
    number, most = scene.rng.choice([(7, 200), (6, 500), (9, 333), (11, 400)])
    value = sum(range(number, most, number))
    code = f"sum(n for n in range(1, {most}) if n % {number} == 0)"
    return Made(
        told(value),
        scene.ends(code),
        [scene.ends(f"sum(range({most})) + 1"), scene.ends(answer="It is 12345678.")],
        {"number": str(number), "most": str(most)},
    )


def _interest(scene: Scene) -> Made:
    money, percent, years = (
        scene.rng.randrange(500, 9000, 250),
        scene.rng.choice([2, 3, 4, 6]),
        scene.rng.randint(3, 12),
    )
    value = money * (1 + percent / 100) ** years
    return Made(
        told(value, within=0.0006),
        scene.ends(f"round({money} * (1 + {percent} / 100) ** {years}, 2)"),
        [scene.ends(f"{money} * (1 + {percent} * {years})"), scene.ends(answer=f"{money}.")],
        {"money": str(money), "percent": str(percent), "years": str(years)},
    )


def _squares(scene: Scene) -> Made:
    name, most = scene.rng.choice(["squares", "sq", "powers"]), scene.rng.randint(6, 14)
    right = {str(n): n * n for n in range(1, most + 1)}

    def judge(outcome: Outcome) -> None:
        outcome.added()
        outcome.equals(name, right)

    return Made(
        judge,
        scene.ends(f"{name} = {{n: n * n for n in range(1, {most + 1})}}"),
        [
            scene.ends(f"{name} = [n * n for n in range(1, {most + 1})]"),
            scene.ends(f"{name} = {{n: n * n for n in range({most})}}"),
        ],
        {"name": name, "most": str(most)},
        probes=[name],
    )


_WRITE: Final[Mapping[Language, Sequence[str]]] = {
    "en": ("write a function {name}({parameter}) that returns {what}", "define {name}({parameter}): it gives back {what}", "I need a function {name} with the argument {parameter} returning {what}"),
    "ko": ("{what_object} 돌려주는 함수 {name}({parameter})를 작성해줘", "함수 {name}({parameter}) 정의: {what} 반환", "{parameter_object} 받아서 {what_object} 반환하는 {name} 함수를 만들어줘"),
    "ja": ("{what}を返す関数{name}({parameter})を書いて", "関数{name}({parameter})を定義：{what}を返す", "{parameter}を受け取って{what}を返す関数{name}を作って"),
}  # fmt: skip

FAMILIES: Final = (
    Family("function-of-numbers", "add", _WRITE, _of_numbers, loaded=False),
    Family("function-of-texts", "add", _WRITE, _of_texts, loaded=False),
    Family(
        "sum-of-multiples",
        "add",
        {
            "en": (
                "what is the sum of all multiples of {number} below {most}?",
                "add up every number under {most} that is divisible by {number}",
                "compute the sum of the multiples of {number} less than {most}",
            ),
            "ko": (
                "{most}보다 작은 {number}의 배수를 모두 더하면?",
                "{most} 미만에서 {number_by} 나누어떨어지는 수의 합을 구해줘",
                "{number}의 배수 중 {most} 미만인 것들의 합 계산",
            ),
            "ja": (
                "{most}より小さい{number}の倍数を全部足すと？",
                "{most}未満で{number}で割り切れる数の合計を求めて",
                "{number}の倍数で{most}未満のものの和を計算",
            ),
        },
        _sum_of_multiples,
    ),
    Family(
        "compound-interest",
        "add",
        {
            "en": (
                "how much is {money} after {years} years at {percent}% interest a year, compounded?",
                "compute compound interest: {money} at {percent} % for {years} years, final amount",
                "{money} grows by {percent}% every year. how much is it after {years} years?",
            ),
            "ko": (
                "{money_object} 연 {percent}% 복리로 {years}년 두면 얼마가 돼?",
                "복리 계산: 원금 {money}, 연 {percent}%, {years}년 후 금액",
                "{money}이 매년 {percent}%씩 늘어나면 {years}년 뒤에는 얼마야?",
            ),
            "ja": (
                "{money}を年{percent}%の複利で{years}年預けるといくらになる？",
                "複利計算：元金{money}、年{percent}%、{years}年後の金額",
                "{money}が毎年{percent}%ずつ増えると{years}年後はいくら？",
            ),
        },
        _interest,
    ),
    Family(
        "dictionary-of-squares",
        "add",
        {
            "en": (
                "make a dict {name} from each number 1 to {most} to its square",
                "create a dictionary {name}: keys 1 to {most}, values their squares",
                "{name} should be a dict with the squares of 1..{most}",
            ),
            "ko": (
                "1부터 {most}까지 숫자를 키, 제곱을 값으로 하는 딕셔너리 {name} 만들어줘",
                "딕셔너리 {name}: 키 1~{most}, 값은 제곱",
                "{name}에 1부터 {most}까지의 제곱을 dict로 담아줘",
            ),
            "ja": (
                "1から{most}までの数をキー、二乗を値とする辞書{name}を作って",
                "辞書{name}：キーは1〜{most}、値はその二乗",
                "{name}に1から{most}までの二乗をdictで入れて",
            ),
        },
        _squares,
    ),
)
