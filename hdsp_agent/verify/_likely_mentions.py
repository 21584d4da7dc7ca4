"""What in an answer is likely no result: names, years, ages, conventions, knowledge of the world, how much was looked at."""

from __future__ import annotations

import re
from typing import Final

from ._number_mentions import NO_COUNT, NO_LABEL_BEFORE

__all__ = ["LIKELY_MENTION"]

_LABEL: Final = (
    r"(?:(?<![A-Za-z])"
    + NO_LABEL_BEFORE
    + r"(?:flight|track|platform|volume|vol\.|appendix|article|slide|experiment|trial|run|epoch|iteration|fold|batch|seed|cluster"
    r"|group|class|layer|level|stage|phase|round|season|version|option|ticket|order|invoice|customer|patient|user|subject|account|case|ID"
    r"|zip(?:\scode)?|postcode|PIN|equation|eq\.|theorem|rule|grade|type|model|highway|terminal|building|floor|seat|page|part|step)"
    r"|시드|군집|클러스터|그룹|에폭|고객|환자|주문|버전|우편번호|식|정리|シード|クラスター?|グループ|エポック|顧客|患者|注文|バージョン|郵便番号|式|定理)"
)
_YEAR: Final = r"(?:1[89]|20)\d{2}(?!\d|[.,]\d|\s?[%％])"
_CHANGED: Final = (
    *("fell", "rose", "grew", "went", "dropped", "declined", "decreased", "increased", "climbed", "jumped", "shrank"),
    *("fall", "rise", "drop", "decline", "decrease", "increase", "change", "changed", "reduced", "down", "up"),
)
_NO_YEAR_BEFORE: Final = "".join(rf"(?<!\b{word}\sfrom\s)" for word in _CHANGED)
_MACHINE: Final = r"(?:4|8|12|16|24|32|40|48|64|80|96|128|192|256|512)\s?GB"
_MEASURE: Final = (
    r"(?:second|minute|hour|day|week|month|year|inch|foot|yard|mile|met(?:er|re)|kilomet(?:er|re)|gram|kilogram|kg|km|pound|ounce|lit(?:er|re)"
    r"|gallon|dozen|byte|kilobyte|megabyte|gigabyte|KB|MB|GB|TB|hectare|acre|ton(?:ne)?|초|분|시간|일|주|개월|년|인치|피트|마일|미터|킬로미터|그램"
    r"|킬로그램|파운드|리터|평|톤|바이트|秒|分|時間|日|週間|[かヶカ]月|年|インチ|フィート|マイル|メートル|キロ(?:メートル|グラム)?|グラム|ポンド|リットル|坪"
    r"|トン|バイト)"
)
_KINDS: Final = (
    # Things that have a number for a name.
    _LABEL
    + r"\s{0,2}(?:no\.?|number|번호|번|番号)?\s{0,2}\#?[(\[]?\d{1,9}(?:\sof\s\d{1,5}|/\d{1,5})?(?![\d.,]*\d|\s?[%％개건명분個件人回])"
    + NO_COUNT,
    r"(?<![A-Za-z])(?:section|chapter|figure|fig\.|table|equation|eq\.|step|appendix|part)\s\(?\d{1,3}(?:\.\d{1,3}){1,3}|(?:그림|표|식|図|表|式)\s?\d{1,3}\.\d{1,3}",
    r"(?<![\d.])\d{1,3}\.\d{1,3}\s?(?:절|장|節|章)",
    r"(?<![\d.,])\d{1,3}부(?=[는의]\s|에서)|(?<!\d)\d{1,5}행[과와]\s?\d{1,5}열",
    r"(?<![\w.])\d[\w-]{0,60}\.(?:csv|tsv|png|txt|xlsx?|json|parquet|ipynb|py|pdf|html|zip)(?![A-Za-z])",
    r"(?<![A-Za-z0-9])(?=(?:\d{0,40}[a-f]){2})(?=[a-f]{0,40}\d)[0-9a-f]{7,40}(?![A-Za-z0-9])|RGB\s?\([\d,\s]{5,20}\)",
    r"(?<![\d.,:])1:\d{1,3}(?:,?000)+(?!\d)|font\ssize\s(?:of\s)?\d{1,3}|(?:글꼴|글자)\s?크기[는를은]?\s?\d{1,3}|フォントサイズ[はを]?\s?\d{1,3}|(?<![\d.,])\d{1,2}\s?pt(?![A-Za-z])",
    r"(?<!\d)\d{1,5}[号番](?![가-힣])|(?<![A-Za-z])(?:no|nr)\.\s?\d{1,5}(?![\d.,]*\d)|(?<![A-Za-z가-힣])[가-힣]?번호\s?\d{1,9}",
    # Names of standards, of telephones, of places on a map, of shapes of a screen.
    r"(?<![A-Za-z])(?-i:ISO|IEC|IEEE|DIN|RFC|PEP|EPSG|CVE|UTF|ASCII|SHA|WGS|ISBN|KS X|JIS [A-Z])[-\s:]{0,2}\d{1,13}(?:[-:]\d{1,9})*+(?![\d.,]*\d)",
    r"(?<![\d.,])\+?\d{1,4}[- ]\d{3,4}[- ]\d{4}(?!\d)|(?<![\d.,])\+\d{1,3}(?:[- ]\d{2,9}){2,4}(?!\d)",
    r"(?<![\d.,])\d{1,3}(?:\.\d{1,9})?\s?°\s?[NSEWnsew](?![A-Za-z])|[북남]위\s?\d{1,3}(?:\.\d{1,9})?|[동서]경\s?\d{1,3}(?:\.\d{1,9})?",
    r"[北南]緯\s?\d{1,3}(?:\.\d{1,9})?|[東西]経\s?\d{1,3}(?:\.\d{1,9})?",
    r"(?<![\d:])(?:16:9|16:10|21:9|4:3)(?![\d:])|(?<![\d.,])\d{3,4}p(?![A-Za-z])|(?<![\d/])24/7(?![\d/])",
    # Whom or what something is of by age.
    r"(?<![A-Za-z])(?:aged?|ages)\s(?:from\s|between\s|group\s)?\d{1,3}(?![\d.,]*\d)(?:\s?(?:[-–]|to|and)\s?\d{1,3}(?!\d))?",
    r"(?:in|early|mid|late|their|his|her)[\s-][1-9]0[’']?s(?![A-Za-z])|(?<![\d.,])[1-9]0(?:代(?!\d)|대\s?(?:남|여|이|초반|중반|후반|고객|층))|(?<![\d.,])\d{1,3}[-–~〜]\d{1,3}\s?(?:세|歳|years?\sold|year-olds?)",
    r"(?<![\d.,])\d{1,6}(?:\.\d{1,4})?\s?[-–~〜]\s?\d{1,6}(?:\.\d{1,4})?\s?(?:(?:age\s)?(?:group|bin|bucket|bracket|band|class|category)(?![A-Za-z])|그룹|계급|연령|階級|ビン|年齢)",
    # Addresses, licences and standards, names in quotes.
    r"(?<![\d.,])\d{1,5}\s(?-i:[A-Z][a-z]{1,20})\s(?:Street|St\.|Road|Rd\.|Avenue|Ave\.|Lane|Drive|Square|Boulevard)|[가-힣]{1,6}(?:대로|번길)\s\d{1,4}(?![\d.,]*\d)|\d{1,5}(?:번지|번길|丁目|番地)|§{1,2}\s?\d{1,5}",
    r"(?<![A-Za-z])(?-i:Apache|GPL|LGPL|AGPL|MPL|CC\sBY(?:-[A-Z]{2}){0,2}|HTTP|HTML|CSS|TLS|SSL|USB|Bluetooth|Wi-Fi|OAuth|SQL|Java|Node(?:\.js)?|Spark|Hadoop|PostgreSQL|MySQL"
    + r"|SQLite|DuckDB|Docker|Chrome|Firefox|Safari|Linux|gcc)[\s/-]v?\d{1,5}(?:\.\d{1,5})?(?![\d.,]*\d|\s?[%％])",
    r"(?<![A-Za-z])(?:column|sheet|tab|file|folder|field|variable|key|named|called|labell?ed|titled|entitled)\s[\"'“‘][^\"'”’\n]{1,80}[\"'”’]",
    r"[\"'“‘「『][^\"'”’」』\n]{1,80}[\"'”’」』]\s?(?:열|시트|탭|파일|폴더|라는|列|シート|タブ|ファイル|フォルダ|という)",
    # What a unit is in another one, and numbers that everybody knows.
    r"(?:(?<![\d.,])1\s?|(?<![A-Za-z])(?:an?|one|each)\s)"
    + _MEASURE
    + r"\s?(?:is|are|=|equals|has|makes|은|는|は|가|が)\s?(?:about\s|exactly\s|약\s?|約)?\d[\d.,]{0,12}(?:\s?[만万])?",
    r"(?:π|(?<![A-Za-z])pi|파이|円周率)\s?(?:is|=|≈|는|は)?\s?(?:about\s|약\s?|約)?3\.14\d{0,9}",
    r"(?:freez|boil|melt)(?:s|es|ing)?\sat\s\d{1,4}|\d{1,4}(?:도|度)(?:에서|で)\s?(?:끓|얼|녹|沸騰|凍|溶)",
    # How far an axis goes.
    r"(?:(?<![A-Za-z])ax[ie]s\s(?:[a-z]{1,9}\s){0,3}|축[은을이]?\s|軸[はを])\d{1,6}(?:에서|부터|から)?(?:\s?(?:to|and|-|–|~|〜)?\s?\d{1,6})?(?![\d.,]*\d)",
    # Scales, splits and conventions.
    r"scale\s(?:of|from|between)\s\d{1,4}\s?(?:to|and|-|–)\s?\d{1,4}|(?<![\d.,])\d{1,4}\s?[-–~〜]\s?\d{1,4}\s?(?:점\s척도|scale|点尺度|段階)",
    r"(?<![\d.,])\d{1,4}점\s?(?:만점|척도)|(?<![\d.,])\d{1,4}点満点",
    r"(?<![\d.,/:-])(?:50[/:-]50|60[/:-]40|70[/:-]30|75[/:-]25|80[/:-]20|90[/:-]10|95[/:-]5|80[/:-]10[/:-]10|70[/:-]15[/:-]15|60[/:-]20[/:-]20)(?![\d/:-])",
    r"(?<![\d.,])1\.5\s?[×x·*]?\s?(?:times\s)?(?:the\s)?(?:IQR|interquartile|사분위|四分位)",
    r"(?<![\d.,])(?:24\s?(?:hours|시간|時間)|(?:365|366)(?:\.25)?\s?(?:days|일|日)|12\s?(?:months|개월|[かヶカ]月)|52\s?(?:weeks|주|週)|60\s?(?:seconds|minutes|초|분|秒|分))"
    + r"(?=\s(?:an?|per|in\san?|each)\s)",
    r"(?:add(?:s|ing)?\sup\sto|sums?\sto|total(?:s|ling)?|합이|합하면|합계가|合計(?:は|すると|が)?)\s?100(?:\.0+)?\s?[%％]|100\s?[%％]\s?(?:sure|certain|clear|safe|reliable|확실|確実|確信)",
    r"(?<![A-Za-z])per\s1(?:,?0{2,3})+(?!\d)|(?<![\d.,])1(?:,?0{2,3})+\s?[가-힣人件명건]{0,2}\s?(?:당(?![가-힣])|あたり|当たり)|(?<!\d)10?[만万]\s?[가-힣人件]{0,2}\s?(?:당(?![가-힣])|あたり|当たり)",
    r"(?<![\d.,])(?:1|5|10)\s?[%％]\s?(?:significance|level|유의|水準|有意)|(?:significance\slevel\s(?:of|is)|유의\s?수준[은이]?|有意水準[はが]?)\s?\d{1,2}\s?[%％]",
    r"(?:power|검정력|検出力)\s?(?:of|is|[은는は])?\s?(?:80|90|95)\s?[%％]|(?:80|90|95)\s?[%％]의?の?\s?(?:power|검정력|検出力)|(?<![A-Za-z])middle\s\d{1,2}\s?%|중앙\s?\d{1,2}\s?[%％]|中央の?\s?\d{1,2}\s?[%％]",
    # What the person asked for; they know that best.
    r"(?<![A-Za-z])you\s(?:asked|wanted|said|mentioned|gave|requested)\s[^,.;:\n]{0,30}?\d{1,9}(?:\.\d{1,9})?|(?:말씀하신|요청하신|원하신|부탁하신)\s?[^,.\n]{0,15}?\d{1,9}",
    r"(?:おっしゃった|ご指定の|ご依頼の|ご希望の|指定された)[^、。\n]{0,15}?\d{1,9}",
    # How often, how far back, and how many of the first.
    r"(?<![A-Za-z])every\s\d{1,5}(?![\d.,]*\d)|(?<![\d.,])\d{1,5}\s?(?:일|주|개월|년|시간|분|초|번|회|행|개)\s?(?:마다|간격)|(?<![\d.,])\d{1,5}\s?(?:日|週間?|[かヶカ]月|年|時間|分|秒|回|行|件)(?:ごと|おき|毎)",
    r"(?<![A-Za-z])(?:first|last|past|next|top|bottom|latest)\s\d{1,6}(?![\d.,]*\d|\s?[%％])",
    r"(?:처음|마지막|최근|지난|다음|상위|하위)\s?\d{1,6}(?![\d.,]*\d|\s?[%％])",
    r"(?:最初|最後|直近|最近|過去|先頭|末尾|上位|下位|今後)の?\s?\d{1,6}(?![\d.,]*\d|\s?[%％])",
    r"(?<![\d.,])\d{1,4}\s(?:seconds|minutes|hours|days|weeks|months|years)\s(?:ago|later|earlier|from\snow)|(?<![\d.,])\d{1,4}\s?(?:초|분|시간|일|주|개월|년)\s?(?:전|후|뒤)(?![가-힣]{2})",
    r"(?<![\d.,])\d{1,4}\s?(?:秒|分|時間|日|週間|[かヶカ]月|年)[前後]",
    # Times.
    r"(?<![A-Za-z])(?:at|around|from|until|till|after|before|by|to)\s\d{1,2}\s?h(?![A-Za-z])",
    # Names of things are written large, and a number follows: Highway 61 is. A number of things would be followed by them.
    r"(?-i:(?<=[a-z,]\s)[A-Z][A-Za-z]{2,30})\s\d{1,5}(?=\s(?:is|was|has|had|does|did)\s)",
    # Years, after what is said of times.
    r"(?<![A-Za-z])(?:in|since(?!\s\d{4}\s(?:are|were)\s(?:empty|missing|null|invalid|duplicates?|dropped|removed|left)(?![a-z]))|from|until|till|before|after|during|years?|early|late|mid|spring|summer|autumn|fall|winter|fiscal|season|census)"
    r"[\s-](?=[12])"
    + _NO_YEAR_BEFORE
    + _YEAR
    + r"(?:(?:,\s?|,?\s(?:and|to|or|vs\.?|through|until)\s|\s?[-–/]\s?)"
    + _YEAR
    + r"){0,9}(?!\s[a-z]{2,20}s(?![a-z]))",
    r"(?<![\d.,])(?=[12])"
    + _NO_YEAR_BEFORE
    + _YEAR
    + r"(?:\s?[-–~〜/]\s?|\s(?:to|and|vs\.?|versus)\s|[와과]\s|と|から|부터\s)(?:"
    + _YEAR
    + r"|\d{2}(?![-/.\d,]*\d|\s?[%％]))\s?[년年]?",
    r"(?<![\d.,])" + _YEAR + r"(?:[’']s|\s?(?:edition|census|survey|election|season|data|dataset|version))(?![A-Za-z])",
    r"^" + _YEAR + r"(?=\s(?:was|saw|had)\s)|(?<=the\s)" + _YEAR + r"(?=\s[a-z]{2,20}[a-rt-z](?![a-z]))",
    r"(?<!\w)[’']\d{2}(?![\d.,%％’'])|(?:平成|令和|昭和|大正|明治)\s?\d{1,2}年?",
    r"(?<!\d)(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])(?![\d.,]*\d)|(?<!\d)(?:19|20)\d{2}-(?:0[1-9]|1[0-2]|W\d{2})(?!\d)",
    r"(?<![\d.,])\d{1,2}\s?[월月](?!\s?\d)|(?<![\d.,])\d{1,2}(?:일에(?!서)|日に)|(?<!\d)\d{2}년(?:도|형|생|식|산)",
    r"(?<![\d.,])\d{1,2}\s?(?:[-–~〜]|to|and|에서|부터|から)\s?\d{1,2}(?:시(?!간)|時(?!間)|\s?(?:[ap]\.?m(?![A-Za-z])|o'clock))|(?<!\d)\d{1,2}h\d{2}(?!\d)",
    r"(?-i:(?<![A-Za-z])(?:UTC|GMT|KST|JST))\s?[-+−±]\s?\d{1,2}(?::?\d{2})?(?!\d)",
    r"(?<![\d.,])" + _MACHINE + r"(?:\s(?:of\s)?|의\s?|の)?(?:RAM|memory|VRAM|GPU|메모리|メモリー?)",
    r"(?<![A-Za-z])(?:RAM|VRAM|GPU)\s?(?:with\s)?" + _MACHINE,
)
LIKELY_MENTION: Final = re.compile("|".join(_KINDS), re.IGNORECASE | re.MULTILINE)
