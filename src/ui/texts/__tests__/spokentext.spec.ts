import { spokenError, spokenText } from '../spokentext';

describe('spokenText', () => {
  it('leaves out the marks, and keeps the words', () => {
    expect(
      spokenText(
        '## Result\n\nIt is **done**: see `rows` in [load.py](load.py#L3).\n\n```python\nprint(rows ** 2)\n```\n\n- one\n- two'
      )
    ).toBe(
      'Result\nIt is done: see rows in load.py.\nprint(rows ** 2)\none\ntwo'
    );
  });

  it('leaves names and sums alone', () => {
    expect(spokenText('a_b_c is 2 * 3 * 4, and x**2')).toBe(
      'a_b_c is 2 * 3 * 4, and x**2'
    );
  });

  it('leaves out the lines of tables', () => {
    expect(spokenText('| a | b |\n|---|:-:|\n| 1 | 2 |')).toBe(
      '| a | b |\n| 1 | 2 |'
    );
  });
});

describe('spokenError', () => {
  it('says what a traceback ends with', () => {
    expect(
      spokenError(
        `${'-'.repeat(75)}\nZeroDivisionError  Traceback (most recent call last)\n----> 1 rows / 0\n\nZeroDivisionError: division by zero`
      )
    ).toBe('ZeroDivisionError: division by zero');
  });

  it('says all of another error', () => {
    expect(spokenError('No such file.\nTry another.')).toBe(
      'No such file.\nTry another.'
    );
  });
});
