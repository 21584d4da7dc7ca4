import { mergedText } from '../threewaymerge';

describe('two versions of one text', () => {
  it('are put together where they changed other places', () => {
    expect(mergedText('a\nb\nc', 'a1\nb\nc', 'a\nb\nc3')).toBe('a1\nb\nc3');
    expect(mergedText('a\nb\nc', 'a\nb\nc3', 'a1\nb\nc')).toBe('a1\nb\nc3');
    expect(mergedText('one two', 'two', 'one two three')).toBe('two three');
  });

  it('are put together where one changed lines on both sides of the other', () => {
    expect(
      mergedText('1\n2\n3\n4\n5', '1a\n2\n3\n4\n5a', '1\n2\n3b\n4\n5')
    ).toBe('1a\n2\n3b\n4\n5a');
    expect(
      mergedText('1\n2\n3\n4\n5', '1\n2\n3b\n4\n5', '1a\n2\n3\n4\n5a')
    ).toBe('1a\n2\n3b\n4\n5a');
  });

  it('are put together where they changed other words of one line', () => {
    expect(
      mergedText('a = 1, 2\nb\nc\n', 'a = 0, 2\nb\nc1\n', 'a = 1, 3\nb\nc\n')
    ).toBe('a = 0, 3\nb\nc1\n');
  });

  it('are two where they changed one of several places alike', () => {
    expect(mergedText('1\n2\n3', '1a\n2\n3a', '1b\n2\n3')).toBeNull();
  });

  it('are one where a change that both made stands beside one of them', () => {
    expect(mergedText('1\n2\n3', '1a\n2\n3a', '1a\n2\n3')).toBe('1a\n2\n3a');
  });

  it('are one where only one of them, or both alike, changed', () => {
    expect(mergedText('a', 'a', 'b')).toBe('b');
    expect(mergedText('a', 'b', 'a')).toBe('b');
    expect(mergedText('a', 'b', 'b')).toBe('b');
  });

  it('are two where both changed one place', () => {
    expect(mergedText('a = 1', 'a = 2', 'a = 3')).toBeNull();
    expect(mergedText('a', 'a # mine', 'a # theirs')).toBeNull();
    expect(mergedText('', 'mine', 'theirs')).toBeNull();
  });
});
