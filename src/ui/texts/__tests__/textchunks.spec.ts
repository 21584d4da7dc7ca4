import type { IChunkedText } from '../textchunks';
import { CHUNK_LENGTH, chunked } from '../textchunks';

const line = `${'x'.repeat(99)}\n`;

describe('chunked()', () => {
  it('should leave a short text whole', () => {
    expect(chunked('', null).chunks).toEqual(['']);
    expect(chunked('a\nb', null).chunks).toEqual(['a\nb']);
  });

  it('should cut at line breaks only, and lose nothing', () => {
    const text = line.repeat(50);
    const { chunks } = chunked(text, null);
    expect(chunks.join('')).toBe(text);
    expect(chunks.length).toBeGreaterThan(1);
    for (const chunk of chunks.slice(0, -1)) {
      expect(chunk.endsWith('\n')).toBe(true);
      expect(chunk.length).toBeGreaterThan(CHUNK_LENGTH);
    }
    expect(chunks[chunks.length - 1]).not.toBe('');
  });

  it('should change none but the last chunk of a text that grows', () => {
    let now: IChunkedText = chunked('', null);
    let text = '';
    for (let count = 0; count < 200; count++) {
      const before = now;
      text += line.slice(0, 50 + (count % 50));
      text += count % 7 === 0 ? '\n\n' : '';
      now = chunked(text, before);
      expect(now.chunks.join('')).toBe(text);
      expect(now.chunks.slice(0, before.chunks.length - 1)).toEqual(
        before.chunks.slice(0, -1)
      );
      expect(now).toEqual(chunked(text, null));
    }
  });

  it('should cut anew when the text was replaced', () => {
    const before = chunked(line.repeat(50), null);
    const after = chunked(line.replace('x', 'y').repeat(50), before);
    expect(after.chunks.join('')).toBe(line.replace('x', 'y').repeat(50));
  });

  it('should return what it was given when nothing changed', () => {
    const before = chunked('same', null);
    expect(chunked('same', before)).toBe(before);
  });
});
