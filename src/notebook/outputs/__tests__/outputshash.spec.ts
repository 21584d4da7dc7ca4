import type * as nbformat from '@jupyterlab/nbformat';

import { outputsHash } from '../outputshash';

const shown = (data: nbformat.IMimeBundle): nbformat.IOutput => ({
  output_type: 'display_data',
  data,
  metadata: {}
});
const figure = (...numbers: number[]) =>
  outputsHash([shown({ 'application/json': { numbers } })]);
const text = (content: string | string[], name = 'stdout') =>
  outputsHash([{ output_type: 'stream', name, text: content }]);

describe('the hash of outputs', () => {
  it('is one for what says the same', () => {
    expect(text(['a\n', 'b'])).toBe(text('a\nb'));
    expect(outputsHash([shown({ 'text/plain': 'a', 'text/html': 'b' })])).toBe(
      outputsHash([
        {
          metadata: {},
          data: { 'text/html': ['b'], 'text/plain': 'a' },
          output_type: 'display_data'
        }
      ])
    );
  });

  it('is another for anything else', () => {
    const hashes = [
      outputsHash([]),
      text(''),
      text('ab'),
      text('ba'),
      text('ab', 'stderr'),
      text('ab\n'),
      outputsHash([shown({ 'text/plain': 'ab' })]),
      outputsHash([shown({ 'text/plain': 'ab' }), shown({})]),
      outputsHash([shown({}), shown({ 'text/plain': 'ab' })]),
      outputsHash([shown({ 'text/html': 'ab' })]),
      figure(),
      figure(1, 2),
      figure(2, 1),
      figure(12),
      figure(1.5, 2),
      // What changes in the highest digit only, twice.
      figure(-1, -2),
      figure(-1, 2),
      figure(1e300, 2)
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it('is made of all of a long output', () => {
    const long = 'x'.repeat(300_000);
    const picture = (data: string) =>
      outputsHash([shown({ 'image/png': data })]);
    const changed = [0, 1, 150_000, 299_998, 299_999].map(at =>
      picture(`${long.slice(0, at)}y${long.slice(at + 1)}`)
    );
    expect(new Set([picture(long), ...changed]).size).toBe(6);
  });
});
