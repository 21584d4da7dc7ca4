import {
  costText,
  dateTimeText,
  durationText,
  fullCount,
  shortCount,
  spendingText
} from '../formats';
import { nullTranslator } from '@jupyterlab/translation';

const MOMENT = Date.UTC(2026, 10, 21, 12);

describe('figures', () => {
  afterEach(() => {
    document.documentElement.lang = '';
  });

  it('should be written as in the language Lab is in, not the browser’s', () => {
    const trans = nullTranslator.load('');
    document.documentElement.lang = 'de';
    expect(fullCount(1234.5)).toBe('1.234,5');
    expect(costText(5)).toContain('5,00');
    expect(dateTimeText(MOMENT)).toMatch(/^21\.11\.2026/);
    expect(durationText(trans, 1_500)).toBe('1,5\u00a0s');
    document.documentElement.lang = 'ko-KR';
    expect(fullCount(1234.5)).toBe('1,234.5');
    expect(dateTimeText(MOMENT)).toMatch(/^2026\. 11\. 21\./);
  });

  it.each(['en', 'ko-KR', 'ja-JP'])(
    'should be short as the windows of models are written, in %s',
    lang => {
      document.documentElement.lang = lang;
      expect([950, 19_000, 128_000, 1_250_000].map(shortCount)).toEqual([
        '950',
        '19K',
        '128K',
        '1.3M'
      ]);
    }
  );
});

describe('what was spent', () => {
  it.each([
    ['is a sum', { cost: 0.5, tokens: 9, isFree: false }, '$0.50'],
    [
      'is nothing before a token',
      { cost: 0, tokens: 0, isFree: false },
      '$0.00'
    ],
    [
      'is unknown without a price',
      { cost: 0, tokens: 9, isFree: false },
      'unknown'
    ],
    ['is nothing of free models', { cost: 0, tokens: 9, isFree: true }, 'free']
  ])('%s', (_, spending, expected) => {
    expect(spendingText(nullTranslator.load(''), spending)).toBe(expected);
  });
});
