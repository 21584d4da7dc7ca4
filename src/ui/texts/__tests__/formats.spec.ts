import { costText, durationText, fullCount, dateTimeText } from '../formats';
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
});
