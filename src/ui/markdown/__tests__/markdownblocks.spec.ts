import type { IMarkdownBlocks } from '../markdownblocks';
import { isOpenFence, markdownBlocks } from '../markdownblocks';

function blocks(text: string): readonly string[] {
  return markdownBlocks(text).blocks;
}

const TEXT = [
  '# Title\n\n',
  'Some words\nand more.\n\n',
  '```python\nx = 1\n\ny = 2\n```\n\n',
  '- one\n\n- two\n\n  of it\n\n',
  '| a | b |\n| - | - |\n| 1 | 2 |\n\n',
  '$$\na\n\nb\n$$\n\n',
  '<details>\n\nhidden\n\n</details>\n\n',
  'The end.\n'
];

describe('markdownBlocks()', () => {
  it('should cut where a block ends, and lose nothing', () => {
    expect(blocks(TEXT.join(''))).toEqual(TEXT);
  });

  it('should not cut a list whose next item is not there yet', () => {
    expect(blocks('1. one\n\n2')).toHaveLength(1);
    expect(blocks('- one\n\n-')).toHaveLength(1);
    expect(blocks('- one\n\nwords')).toHaveLength(2);
  });

  it('should leave a text whole in which names are defined', () => {
    expect(blocks('See [it][1].\n\nMore.\n\n[1]: #here\n')).toHaveLength(1);
  });

  it('should change none but the last block of a text that grows', () => {
    const whole = TEXT.join('');
    let now: IMarkdownBlocks = markdownBlocks('');
    for (let length = 1; length <= whole.length; length++) {
      const before = now;
      now = markdownBlocks(whole.slice(0, length), before);
      expect(now.blocks.join('')).toBe(whole.slice(0, length));
      expect(now.blocks.slice(0, before.blocks.length - 1)).toEqual(
        before.blocks.slice(0, -1)
      );
    }
    expect(now.blocks).toEqual(TEXT);
  });

  it('should return what it was given when nothing changed', () => {
    const before = markdownBlocks('same');
    expect(markdownBlocks('same', before)).toBe(before);
  });
});

describe('isOpenFence()', () => {
  it('should tell whether the code is all there', () => {
    expect(isOpenFence('```python\nx = 1\n')).toBe(true);
    expect(isOpenFence('````\n```\n')).toBe(true);
    expect(isOpenFence('```python\nx = 1\n```\n')).toBe(false);
    expect(isOpenFence('words\n')).toBe(false);
  });
});
