import { carried, lineChanges, lineCounts, madeOf } from '../linechanges';

const lines = (text: string) => (text === '' ? [] : text.split(''));

/**
 * The lines with changes done to them.
 */
const changed = (
  old: readonly string[],
  changes: ReturnType<typeof lineChanges>
) => {
  const result = [...old];
  for (const { from, to, lines: now } of [...changes].reverse()) {
    result.splice(from, to - from, ...now);
  }
  return result;
};

describe('the changes of lines', () => {
  it('make one text of the other', () => {
    let seed = 7;
    const random = (most: number) => {
      seed = (seed * 48271) % 2147483647;
      return seed % most;
    };
    const text = () =>
      Array.from({ length: random(9) }, () => 'abc'[random(3)]);
    for (let round = 0; round < 2000; round++) {
      const [old, now] = [text(), text()];
      expect(changed(old, lineChanges(old, now))).toEqual(now);
    }
  });

  it('are as small as can be', () => {
    expect(lineChanges(lines('abcde'), lines('aXcdY'))).toEqual([
      { from: 1, to: 2, lines: ['X'] },
      { from: 4, to: 5, lines: ['Y'] }
    ]);
  });

  it('of very long texts are one, and do not take for ever', () => {
    const old = Array.from({ length: 20_000 }, (_, at) => `old ${at}`);
    const now = old.map((line, at) => (at % 2 === 0 ? line : `new ${at}`));
    // The best of a few: others share the machine.
    const took = [1, 2, 3].map(() => {
      const began = performance.now();
      expect(changed(old, lineChanges(old, now))).toEqual(now);
      return performance.now() - began;
    });
    expect(Math.min(...took)).toBeLessThan(1_000);
  });
});

describe('a change that is carried over', () => {
  it.each([
    ['abc', 'aXc', 'abcd', 'aXcd'],
    ['abc', 'ac', 'abYc', 'aYc'],
    ['abc', 'abXc', 'abYc', 'abXYc'],
    ['abc', 'ab', 'ab', 'ab'],
    ['', 'X', 'Y', 'XY'],
    ['abc', 'aXc', 'aYc', null],
    ['abcd', 'ad', 'abYcd', null],
    ['abcd', 'aXd', 'aXd', 'aXd']
  ])('from %s to %s onto %s', (from, to, onto, expected) => {
    expect(carried(lines(from), lines(to), lines(onto))?.join('') ?? null).toBe(
      expected
    );
  });
});

describe('what lines were made of', () => {
  it.each<[string, string, [number, number], [number, number] | null]>([
    ['abc', 'abc', [1, 2], [1, 2]],
    ['abc', 'Xabc', [1, 3], [0, 2]],
    ['abc', 'abcX', [2, 4], [2, 3]],
    ['abc', 'aXYc', [1, 3], [1, 2]],
    ['abc', 'aXYc', [2, 3], null],
    ['abc', 'ac', [1, 1], null]
  ])('%s and %s', (old, now, [from, to], expected) => {
    const changes = lineChanges(lines(old), lines(now));
    expect(madeOf(changes, from, to)).toEqual(expected);
  });
});

describe('the count of changed lines', () => {
  it.each([
    ['a\nb', 'a\nB\nc', 2, 1],
    ['a', 'a\nb', 1, 0],
    ['a\nb', 'a', 0, 1],
    ['a', 'a', 0, 0],
    ['a', 'a\n', 0, 0],
    ['', 'a\nb', 2, 0],
    [null, 'a\nb\n', 2, 0],
    ['a\nb', null, 0, 2],
    [null, '', 0, 0]
  ])('from %j to %j is +%i −%i', (old, now, added, removed) => {
    expect(lineCounts(old, now)).toEqual({ added, removed });
  });

  it('is of what differs, however often lines are repeated', () => {
    const same = Array<string>(400).fill('0');
    expect(
      lineCounts(same.join('\n'), [...same, 'new', ...same].join('\n'))
    ).toEqual({ added: 401, removed: 0 });
  });
});
