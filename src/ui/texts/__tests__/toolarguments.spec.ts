import { argumentLines, indentedJson } from '../toolarguments';

describe('argumentLines()', () => {
  it('should have a line for each argument', () => {
    const json = '{"path": "a.csv", "rows": 3, "header": true, "to": null}';
    expect(argumentLines(json)).toBe(
      'path: a.csv\nrows: 3\nheader: true\nto: null'
    );
  });

  it('should let no value look like another argument', () => {
    for (const end of ['\n', '\r\n', '\r', '\u2028', '\u0085', '\v']) {
      const lines = argumentLines(
        JSON.stringify({ note: `hello${end}confirm: no`, confirm: 'yes' })
      ).split('\n');
      expect(lines.filter(line => line.startsWith('confirm:'))).toEqual([
        'confirm: yes'
      ]);
    }
    expect(argumentLines('{"a\\nb": 1}')).toBe('a b: 1');
  });

  it('should leave what is no object as it is', () => {
    expect(argumentLines('[1]')).toBe('[1]');
    expect(argumentLines('{"half')).toBe('{"half');
  });
});

describe('indentedJson()', () => {
  it('should know JSON by what it holds', () => {
    expect(indentedJson(' [1]')).toBe('[\n  1\n]');
    expect(indentedJson('{"a":1}')).toBe('{\n  "a": 1\n}');
    expect(indentedJson('12')).toBeNull();
    expect(indentedJson('{a}')).toBeNull();
  });
});
