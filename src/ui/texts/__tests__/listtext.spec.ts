import { nullTranslator } from '@jupyterlab/translation';

import { listText } from '../listtext';

const trans = nullTranslator.load('hdsp_agent');

describe('listText', () => {
  it('lists as English does', () => {
    expect(listText(['a.ipynb', 'b.csv', '3 more'], trans)).toBe(
      'a.ipynb, b.csv, 3 more'
    );
    expect(listText(['a.ipynb'], trans)).toBe('a.ipynb');
    expect(listText([], trans)).toBe('');
  });

  it('lists as the language of the panel does', () => {
    const japanese = {
      ...trans,
      _p: (context: string, text: string) => (text === ', ' ? '、' : text)
    };
    expect(listText(['a.ipynb', 'b.csv'], japanese)).toBe('a.ipynb、b.csv');
  });
});
