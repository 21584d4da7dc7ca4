import type { ISharedNotebook } from '@jupyter/ydoc';
import { YNotebook } from '@jupyter/ydoc';

import { pageOf } from '../notebookpages';

describe('pages of a notebook', () => {
  let notebook: ISharedNotebook;

  beforeEach(() => {
    notebook = YNotebook.create();
    notebook.insertCells(
      0,
      Array.from({ length: 10 }, (_, index) => ({
        id: `cell-${index}`,
        cell_type: 'code',
        source: 'x'.repeat(1000)
      }))
    );
  });

  afterEach(() => notebook.dispose());

  const idsOf = (first: number, budget: number) =>
    pageOf(notebook, { first, budget, outputs: 'none' }).cells?.map(
      cell => cell.id
    );

  const outputOf = (output: object, outputs: 'none' | 'bounded' | 'full') => {
    notebook.insertCell(0, {
      id: 'printed',
      cell_type: 'code',
      source: '',
      outputs: [output as never]
    });
    const page = pageOf(notebook, { first: 0, budget: 1, outputs });
    return (page.cells?.[0].outputs as Record<string, unknown>[])[0];
  };

  it('leave out the conversation that the notebook carries', () => {
    notebook.setMetadata('hdsp_conversation', { version: 1 });
    notebook.setMetadata('hdsp_agent', { head: 'a' });
    const { metadata } = pageOf(notebook, {
      first: 0,
      budget: 1,
      outputs: 'none'
    });
    expect(metadata).toMatchObject({ hdsp_agent: { head: 'a' } });
    expect(metadata).not.toHaveProperty('hdsp_conversation');
  });

  it('have as many cells as fit, and how many there are', () => {
    const page = pageOf(notebook, {
      first: 0,
      budget: 3500,
      outputs: 'none'
    });
    expect(page).toMatchObject({ first: 0, total: 10, nbformat: 4 });
    expect(page.cells).toHaveLength(3);
  });

  it('follow on one another until the end', () => {
    expect(idsOf(3, 3500)).toEqual(['cell-3', 'cell-4', 'cell-5']);
    expect(idsOf(9, 3500)).toEqual(['cell-9']);
    expect(idsOf(10, 3500)).toEqual([]);
  });

  it('have at least one cell', () => {
    expect(idsOf(2, 1)).toEqual(['cell-2']);
  });

  it('say which outputs there are without what they say', () => {
    expect(
      outputOf({ output_type: 'stream', name: 'stdout', text: 'abc' }, 'none')
    ).toEqual({ output_type: 'stream', name: 'stdout', text: '' });
  });

  it('shorten long texts, and leave pictures out', () => {
    const text = outputOf(
      { output_type: 'stream', name: 'stdout', text: 'y'.repeat(50_000) },
      'bounded'
    ).text as string;
    expect(text).toContain('[30000 characters left out]');
    expect(text.length).toBeLessThan(20_100);
    expect(
      outputOf(
        {
          output_type: 'display_data',
          data: { 'text/plain': 'Figure', 'image/png': 'AAAA' },
          metadata: { 'image/png': { width: 1 } }
        },
        'bounded'
      )
    ).toEqual({
      output_type: 'display_data',
      data: { 'text/plain': 'Figure', 'image/png': '' },
      metadata: {}
    });
  });

  it('keep the traceback of an error readable', () => {
    expect(
      outputOf(
        {
          output_type: 'error',
          ename: 'E',
          evalue: 'v',
          traceback: ['one', 'two']
        },
        'bounded'
      )
    ).toMatchObject({ ename: 'E', traceback: ['one\ntwo'] });
  });

  it('have all outputs if asked, except of a cell too large for a frame', () => {
    const image = (size: number) => ({
      output_type: 'display_data',
      data: { 'image/png': 'A'.repeat(size) },
      metadata: {}
    });
    expect(outputOf(image(5000), 'full')).toEqual(image(5000));
    expect(outputOf(image(3_000_000), 'full')).toEqual(image(0));
  });
});
