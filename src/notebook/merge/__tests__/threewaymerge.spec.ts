import { mergedText } from '../threewaymerge';

describe('two versions of one text', () => {
  it('are put together where they changed other places', () => {
    expect(mergedText('a\nb\nc', 'a1\nb\nc', 'a\nb\nc3')).toBe('a1\nb\nc3');
    expect(mergedText('a\nb\nc', 'a\nb\nc3', 'a1\nb\nc')).toBe('a1\nb\nc3');
    expect(mergedText('one two', 'two', 'one two three')).toBe('two three');
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
