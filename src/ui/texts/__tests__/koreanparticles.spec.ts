import { nullTranslator } from '@jupyterlab/translation';

import { withSuitedParticles } from '../koreanparticles';
import { loadTexts } from '../loadtexts';

describe('withSuitedParticles', () => {
  it.each([
    ['셀 1을(를) 실행할까요?', '셀 1을 실행할까요?'],
    ['셀 2을(를) 실행할까요?', '셀 2를 실행할까요?'],
    ['셀 2–10을(를) 실행할까요?', '셀 2–10을 실행할까요?'],
    ['“분석”을(를) 검색할까요?', '“분석”을 검색할까요?'],
    ['“자료”이(가) 없습니다.', '“자료”가 없습니다.'],
    ['시그널 9(으)로 종료됨', '시그널 9로 종료됨'],
    ['시그널 6(으)로 종료됨', '시그널 6으로 종료됨'],
    ['“파일”(으)로 찾기', '“파일”로 찾기'],
    ['“메모”은(는) “책”과(와) 다릅니다.', '“메모”는 “책”과 다릅니다.']
  ])('suits %s', (text, suited) => {
    expect(withSuitedParticles(text)).toBe(suited);
  });

  it('leaves both forms behind what may be read in several ways', () => {
    const text = 'data.csv을(를) 읽을까요?';
    expect(withSuitedParticles(text)).toBe(text);
  });
});

describe('loadTexts', () => {
  afterEach(() => {
    document.documentElement.lang = '';
  });

  it('suits particles in Korean only', () => {
    const trans = loadTexts(nullTranslator);
    document.documentElement.lang = 'ko-KR';
    expect(trans.__('셀 %1을(를) 편집할까요?', 4)).toBe('셀 4를 편집할까요?');
    expect(trans._n('%1을(를)', '%1을(를)', 3)).toBe('3을');
    document.documentElement.lang = 'en';
    expect(trans.__('셀 %1을(를)', 4)).toBe('셀 4을(를)');
  });
});
