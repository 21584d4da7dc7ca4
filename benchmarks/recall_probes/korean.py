"""Korean conversations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .wordings import FactKind, FactWording, Language, Preference, Project

__all__ = ["KOREAN"]

_PROJECTS: Final = (
    Project("고객 이탈 예측", "구독 기록", "churn_kr", {
        "join_months": "가입 후 몇 달이 지났는지", "rate_plan": "요금제 코드", "recent_conn": "마지막으로 접속한 날짜", "arpu": "고객 한 명당 평균 매출",
    }, ("민지", "서준")),
    Project("아파트 실거래가", "실거래 내역", "apt_price", {
        "excl_area": "전용 면적", "floor_no": "몇 층인지", "compl_year": "준공 연도", "sub_dist": "지하철역까지의 거리",
    }, ("지훈", "하은")),
    Project("따릉이 대여량", "대여소 로그", "ddareungi", {
        "rent_cnt": "한 시간 동안 빌려 간 자전거 수", "feels_c": "체감 온도", "is_off": "쉬는 날인지 여부", "pm10": "미세먼지 농도",
    }, ("예린", "도윤")),
    Project("카드 부정 사용 탐지", "결제 내역", "card_fraud", {
        "pay_norm": "표준화한 결제 금액", "shop_type": "가맹점 업종", "cnp_yn": "카드 없이 결제했는지", "day_uses": "하루 동안 카드를 쓴 횟수",
    }, ("현우", "수빈")),
    Project("반도체 수율 분석", "공정 센서 데이터", "yield", {
        "ch_temp": "챔버 온도", "wf_pos": "웨이퍼 위의 위치", "defect_n": "결함 개수", "etch_s": "식각에 걸린 시간",
    }, ("태호", "은지")),
    Project("전력 수요 예측", "계량기 데이터", "power", {
        "kwh_15": "15분 동안의 사용량", "tmp_c": "기온", "hol_yn": "공휴일 여부", "cap_kw": "계약 용량",
    }, ("가영", "성민")),
    Project("상담 문의 분류", "상담 이력", "voc", {
        "solve_h": "문의가 해결되기까지 걸린 시간", "urgency": "긴급도", "channel": "어떤 채널로 들어왔는지", "again_n": "다시 접수된 횟수",
    }, ("나연", "준호")),
)  # fmt: skip

_TUNED: Final[Mapping[FactKind, FactWording]] = {
    "path": FactWording(
        ("{subject}에 쓰는 {data}는 {path}에 있어요.", "{subject}용 {data}를 {path}에 넣어 두었으니 거기서 읽어 주세요."),
        ("{subject}에 쓰는 {data}는 어디에 있나요?", "{subject} {data} 파일 위치가 어디였지?"),
        ("{subject}용 {data}를 옮겼어요. 이제 {path}에 있습니다.", "{subject} 예전 파일은 쓰지 말고 {data}는 {path}에서 읽어 주세요."),
    ),
    "column": FactWording(
        ("{subject}에서 {column}은 {meaning}를 뜻해요.", "{data}의 {column}에는 {meaning} 정보가 들어 있으니 조심하세요."),
        ("{meaning}를 나타내는 컬럼이 뭐였죠?", "{column}이 무슨 뜻이에요?", "{subject} 데이터에서 {meaning}는 어느 열에 있나요?"),
    ),
    "metric": FactWording(
        ("{subject} 모델은 {metric}로 평가합시다. {reason}.", "{subject} 평가 지표는 {metric}로 정했어요. {reason}."),
        ("{subject} 모델은 무엇으로 평가하나요?", "{subject} 평가 지표가 뭐였죠?"),
        ("계획이 바뀌어서 {subject}는 앞으로 {metric}로 평가합니다.", "검토 결과 {subject} 평가 지표를 {metric}로 바꾸기로 했어요."),
    ),
    "model": FactWording(
        ("{subject}에는 {model}를 쓰기로 했어요.", "{subject} 모델은 {model}로 결정했습니다."),
        ("{subject}에 어떤 모델을 쓰기로 했죠?", "{subject} 모델이 뭐였더라?"),
        ("{subject} 모델을 {model}로 바꿉시다.", "{subject}는 예전 모델 대신 이제 {model}를 씁니다."),
    ),
    "missing": FactWording(
        ("{subject}에서 {column} 결측치는 {missing} 처리해 주세요.", "{column}이 비어 있으면 {missing} 해 주세요 ({subject})."),
        ("{column} 결측치는 어떻게 처리하기로 했나요?", "{subject}에서 {column}이 비어 있으면 어떻게 하죠?"),
    ),
    "deadline": FactWording(
        ("{subject} 보고서는 {day}까지 내야 해요.", "{subject} 발표가 {day}에 있습니다."),
        ("{subject} 보고서 마감이 언제죠?", "{subject} 발표 날짜가 언제였나요?"),
        ("{subject} 보고서 마감이 {day}로 미뤄졌어요.", "{subject} 발표가 {day}로 바뀌었습니다."),
    ),
    "result": FactWording(
        ("{subject}에서 {variant} 결과는 {number}이었어요.", "{subject} 기록: {variant}, {number}."),
        ("{subject}에서 {variant} 성능이 얼마였죠?", "{variant} 했을 때 {subject} 결과가 어땠나요?"),
    ),
    "split": FactWording(
        ("{subject} 데이터는 {split} 나눠 주세요.", "{subject}는 {split} 분할하고 싶어요."),
        ("{subject}의 학습과 테스트 데이터는 어떻게 나누죠?", "{subject} 데이터 분할 방법이 뭐였죠?"),
    ),
    "dropped": FactWording(
        ("{subject} 변수에서 {column}은 빼 주세요. {reason}.", "{subject}에는 {column}을 쓰지 않기로 했어요. {reason}."),
        ("{subject}에서 어떤 변수를 빼기로 했죠?", "{column}은 왜 변수에서 빠졌나요?"),
    ),
    "threshold": FactWording(
        ("{subject}는 예측값이 {threshold}를 넘으면 조치합니다.", "{subject} 임계값은 {threshold}로 해 주세요."),
        ("{subject} 임계값이 얼마죠?", "{subject}는 예측값이 얼마를 넘으면 조치하나요?"),
    ),
    "person": FactWording(
        ("{data}는 {person} 님 담당이니 {subject} 관련 질문은 그분께 하세요.", "{data}가 이상하면 {person} 님이 도와줄 수 있어요 ({subject})."),
        ("{data} 담당자가 누구죠?", "{subject} 데이터에 문제가 있으면 누구에게 물어보나요?"),
    ),
}  # fmt: skip

_HELD_OUT: Final[Mapping[FactKind, FactWording]] = {
    "path": FactWording(
        ("{subject} {data} 불러올 때는 {path} 쓰시면 됩니다.", "{path}가 {subject}에 필요한 {data}예요."),
        ("{subject} {data}를 어디서 불러오면 되지?", "{subject} 자료 저장해 둔 곳 알려 줘"),
        ("{subject} {data} 위치가 새로 생겼어요, {path}.", "오늘부터 {subject} {data}는 {path}에서 불러오세요."),
    ),
    "column": FactWording(
        ("참고로 {subject}의 {column} 필드는 {meaning}예요.", "{column}을 보면 {meaning} 알 수 있어요. {data} 기준으로요."),
        ("{subject}에서 {column}이 뭐야", "{meaning} 알려 주는 필드 찾아 줘", "{column} 의미"),
    ),
    "metric": FactWording(
        ("{subject}에서 중요한 건 {metric}예요. {reason}.", "팀장님이 {subject}는 {metric}로 보고하라고 하셨어요. {reason}."),
        ("{subject}는 무슨 점수로 보고해야 해?", "{subject}에서 중요하게 보는 기준"),
        ("{subject}에서 이제 중요한 건 {metric}예요.", "팀장님이 {subject}는 결국 {metric}로 보고하라고 하셨어요."),
    ),
    "model": FactWording(
        ("{subject}는 {model}로 만들어 주세요.", "{subject}는 {model}가 제일 안정적이라 그걸로 갑니다."),
        ("{subject}에 들어간 알고리즘이 뭐지", "{subject}를 무슨 모델로 만들었는지 다시 알려 줘"),
        ("{subject}는 {model}로 다시 만들어 주세요.", "{subject}는 {model}로 갑니다. 먼젓번 것은 운영에서 너무 느렸어요."),
    ),
    "missing": FactWording(
        ("{subject}에서 {column} 빈칸은 {missing} 부탁해요.", "{column}이 NaN이면 {missing} 하고 싶어요 ({subject})."),
        ("{column} NaN 처리", "{column} 빈칸을 내가 어떻게 하고 싶다고 했지?"),
    ),
    "deadline": FactWording(
        ("{subject}는 {day}까지 끝내야 합니다.", "{subject} 결과를 {day}에 받기로 되어 있어요."),
        ("{subject}는 언제까지 하면 돼?", "{subject} 결과 언제 주기로 했지"),
        ("{subject}는 {day}까지만 끝내면 됩니다.", "{subject} 결과를 이제 {day}에 받기로 되어 있어요."),
    ),
    "result": FactWording(
        ("{subject}에 {variant} 하니까 {number} 나왔어요.", "{subject} 메모: {variant} {number}."),
        ("{subject} {variant} 점수", "{variant} 써서 {subject} 얼마까지 나왔어?"),
    ),
    "split": FactWording(
        ("{subject} 검증은 {split} 해 주세요.", "{subject} 검증용 데이터는 {split} 만듭니다."),
        ("{subject} 검증을 어떻게 하고 있지", "{subject} 검증용 데이터 어떻게 만들라고 했더라"),
    ),
    "dropped": FactWording(
        ("{subject}에 {column}은 넣지 마세요. {reason}.", "{column}은 {subject} 모델에 들어가면 안 돼요. {reason}."),
        ("{subject} 모델에 넣으면 안 되는 게 뭐지?", "{column} 써도 돼?"),
    ),
    "threshold": FactWording(
        ("{subject}는 {threshold} 이상이면 전부 표시해 주세요.", "{threshold}부터 {subject} 알림을 띄웁니다."),
        ("{subject}는 확률이 얼마부터 알림을 띄우지?", "{subject} 기준값"),
    ),
    "person": FactWording(
        ("{subject} {data}는 {person} 님이 모으셨어요.", "{data}를 고치기 전에 {person} 님께 말씀하세요."),
        ("{data}를 누가 모았지?", "{data} 연락할 사람"),
    ),
}  # fmt: skip

KOREAN: Final = Language(
    code="ko",
    projects=_PROJECTS,
    tuned=_TUNED,
    held_out=_HELD_OUT,
    preferences=(
        Preference("그래프는 항상 색각 이상자도 볼 수 있는 색으로 그려 주세요.", "그래프는 색각 이상자도 볼 수 있는 색으로 그린다.", "{subject} 월별 합계를 그래프로 보여 줘."),
        Preference("설명은 두 문장 이내로 해 주세요.", "설명은 두 문장 이내로 한다.", "혼동 행렬이 {subject}에서 무슨 뜻인지 알려 줘."),
        Preference("# keep이라고 적은 셀은 절대 건드리지 마세요.", "# keep이 적힌 셀은 고치지 않는다.", "{subject} 노트북을 정리해 줘."),
        Preference("가능하면 pandas 대신 polars를 써 주세요.", "pandas보다 polars를 쓴다.", "{data}를 월별로 묶어서 더해 줘."),
        Preference("주석은 한국어로 달아 주세요.", "코드 주석은 한국어로 단다.", "{data}를 정리하는 함수를 써 줘."),
    ),
    requests=(
        "{column}을 시간 순서로 그려 줘.", "KeyError: '{column}' 오류가 나는데 고쳐 줘.", "{subject} {column} 히스토그램 보여 줘.",
        "{subject} 노트북이 왜 이렇게 느리지?", "{data} 읽는 셀 위에 제목을 달아 줘.", "{data} 처음 몇 줄 보여 줘.",
        "{column}이 0인 행이 몇 개야?", "df2라는 변수 이름이 헷갈려, 바꿔 줘.", "{column}이랑 {other} 사이에 상관이 있어?",
        "{subject} 전처리 단계 테스트를 써 줘.", "{subject} 기본 모델 하나 빨리 돌려 봐.", "{data} 메모리 얼마나 써?",
        "{data}에서 중복된 행을 찾아 줘.", "여기 나오는 pandas 경고 설명해 줘.", "{subject} 폴드별 점수를 표로 만들어 줘.",
    ),
    replies=(
        "그렸습니다. {column}에 이상치가 몇 개 있어요.", "셀을 고쳤고 이제 실행됩니다.", "{data}는 48,213행, 17열입니다.",
        "제목을 넣고 import를 맨 위로 옮겼습니다.", "상관은 약합니다. {other}도 볼까요?", "행마다 도는 반복문이 느려서 벡터 연산으로 바꿨습니다.",
        "{subject} 기본 모델을 돌렸는데 폴드마다 차이가 커서 참고만 하세요.", "중복 312개를 지웠습니다.",
    ),
    confirmations=("알겠습니다. 그렇게 할게요.", "네, 기억해 두겠습니다.", "네, {subject}에 반영하겠습니다."),
    asked_on_day=("{day}에 {subject}에서 뭘 했었지?", "{day}에 {subject} 관련해서 내가 뭘 물어봤지?"),
    asked_relative=("지난주에 {subject}에서 뭘 했지?", "{subject} 지난주 작업"),
    titles=("{subject} 살펴보기", "{subject} 데이터 정리", "{subject} 모델", "{subject} 다음 단계"),
    values={
        "metric": ("PR AUC", "재현율", "MAPE", "로그 손실", "F2 점수", "평균 절대 오차"),
        "reason": ("클래스가 심하게 불균형하거든요", "이상치에 너무 끌려가거든요", "정답이 새어 들어가거든요", "법무팀에서 요청했거든요", "고객이 이해하기 쉽거든요"),
        "model": ("LightGBM", "로지스틱 회귀", "CatBoost", "랜덤 포레스트", "XGBoost", "작은 신경망"),
        "missing": ("중앙값으로", "-1로", "행을 지우는 것으로", "전날 값으로", "최근접 이웃으로"),
        "split": ("시간순으로 마지막 분기를 떼어서", "같은 고객이 양쪽에 없게", "층화 5겹으로", "시드 7로 무작위 8대 2로"),
        "variant": ("첫 기본 모델", "타깃 인코딩", "시차 변수", "조기 종료", "로그 변환"),
    },
    day="{month}월 {day}일",
)  # fmt: skip
