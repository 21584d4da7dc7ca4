import type { TranslationBundle } from '@jupyterlab/translation';
import { nullTranslator } from '@jupyterlab/translation';

import type {
  CheckpointView,
  LeftOut,
  StepView,
  Why
} from '../../generated/rest';
import {
  checkpointText,
  knownTools,
  numbersText,
  reasonText,
  stepText
} from '../checkpointtexts';
import { failureOf, failureText, knownWhys, whyText } from '../failuretexts';
import { changedText, leftOutText } from '../timelinetexts';

const trans = nullTranslator.load('hdsp_agent');

/** Marks what came through the translator. */
const marked = {
  __: (text: string, ...values: readonly unknown[]) => filled(text, values),
  _n: (one: string, many: string, ...values: readonly unknown[]) =>
    filled(values[0] === 1 ? one : many, values)
} as unknown as TranslationBundle;

function filled(text: string, values: readonly unknown[]): string {
  return `«${text.replace(/%(\d)/g, (_, at) => String(values[Number(at) - 1]))}»`;
}

const PARAMS = {
  path: 'a.ipynb',
  workspace: '/work',
  language: 'R',
  saved: '2.0',
  kernel: '3.0',
  library: 'pandas',
  names: 'x',
  megabytes: 500,
  format: 3,
  most: 2048,
  needed: 4096,
  size: 8192
};

describe('why something is not kept or brought back', () => {
  it('is said in words of this page, whatever the server can say', () => {
    const codes = knownWhys();
    expect(codes).toContain('kernel_busy');
    const said = codes.map(code =>
      whyText({ code, params: PARAMS }, 'English', marked)
    );
    expect(said.filter(text => !/^«.*»/s.test(text))).toEqual([]);
    expect(said.join()).not.toMatch(/undefined|NaN|%\d/);
    expect(new Set(said).size).toBe(codes.length);
  });

  it('is said as the server says it where the code is not known', () => {
    const unknown = { code: 'newer', params: {} } as unknown as Why;
    expect(whyText(unknown, 'It is newer.', marked)).toBe('It is newer.');
    expect(whyText(undefined, 'It is old.', marked)).toBe('It is old.');
    const left: LeftOut = { path: 'a.ipynb', part: 'variables', why: 'Busy.' };
    expect(leftOutText(left, trans)).toBe(
      'The variables of a.ipynb are not in it: Busy.'
    );
    const coded: Why = { code: 'kernel_busy', params: {} };
    expect(leftOutText({ ...left, coded }, trans)).toContain(
      'Its kernel runs a cell.'
    );
  });

  it('is said of errors, and of those without a reason by their code', () => {
    const error = {
      code: 'conflict',
      message: 'English',
      params: { why: 'cut_short' }
    };
    expect(failureText(error, trans)).toMatch(
      /^An earlier restore was interrupted/
    );
    expect(failureOf(error, trans).message).toMatch(/^An earlier restore was/);
    const other = { code: 'unknown_task', message: 'English', params: {} };
    expect(failureText(other, trans)).toMatch(
      /^This conversation no longer exists/
    );
    expect(failureOf(other, trans).code).toBe('unknown_task');
  });

  it('has what a program said in words of its own behind it', () => {
    const params = { details: 'ENOSPC' };
    expect(whyText({ code: 'not_put_back', params }, '', trans)).toMatch(
      /\(ENOSPC\)$/
    );
  });
});

describe('why there is a checkpoint', () => {
  it('is said in words of this page for every step the server knows', () => {
    const tools = knownTools();
    expect(tools).toContain('run_cells');
    for (const tool of tools) {
      for (const time of ['before', 'after', 'while']) {
        const said = reasonText(`${time} ${tool}`, marked);
        expect(said).toMatch(/^«.*»$/);
        const isWord = ['restore', 'restart'].includes(tool);
        expect(said).not.toContain(isWord ? '%' : tool);
      }
    }
  });

  it('is said for everything that is no step', () => {
    const reasons: Record<CheckpointView['kind'], string> = {
      before: 'before restore',
      after: 'after restore',
      while: 'while run_code',
      meanwhile: 'meanwhile',
      look: 'look',
      asked_for: 'asked for',
      verified: 'for a verification',
      after_crash: 'after a crash',
      note: ''
    };
    for (const kind of Object.keys(reasons) as CheckpointView['kind'][]) {
      const said = checkpointText({ kind, reason: reasons[kind] }, marked);
      expect(said).toMatch(kind === 'note' ? /^$/ : /^«/);
    }
  });

  it('names tools of others', () => {
    expect(reasonText('while another_tool', trans)).toBe(
      'While the agent used another_tool'
    );
  });

  it('is a person’s own words, whatever they sound like', () => {
    const note = { kind: 'note', reason: 'before lunch' } as const;
    expect(checkpointText(note, trans)).toBe('before lunch');
  });
});

describe('what the agent did', () => {
  it('is said in words of this page for every step the server knows', () => {
    for (const tool of knownTools()) {
      const said = stepText(`after ${tool}`, undefined, marked);
      expect(said).toMatch(/^«[A-Z].*»$/);
      expect(said).not.toContain('%');
    }
    expect(stepText('after another_tool', undefined, trans)).toBe(
      'Used another_tool'
    );
  });

  it('names cells by their numbers, and files', () => {
    const said = (tool: string, step: Partial<StepView>) =>
      stepText(`after ${tool}`, { cells: [], ...step }, trans);
    expect(said('run_cells', { cells: [4, 2, 3, 7] })).toBe('Ran cells 2–4, 7');
    expect(said('run_cell', { cells: [5] })).toBe('Ran cell 5');
    expect(said('edit_cells', { cells: [4], change: 'edited' })).toBe(
      'Edited cell 4'
    );
    expect(said('edit_cells', { cells: [3], change: 'added' })).toBe(
      'Added cell 3'
    );
    expect(said('edit_cells', { cells: [1, 2], change: 'deleted' })).toBe(
      'Deleted cells 1–2'
    );
    expect(said('write_to_file', { path: 'data/prices.csv' })).toBe(
      'Edited prices.csv'
    );
    expect(numbersText([])).toBe('');
  });
});

describe('how much changed', () => {
  it('is said of all there is, one or many', () => {
    const one = { files: 1, cells: 1, variables: 1 };
    expect(changedText(one, trans)).toBe('1 file, 1 cell, 1 variable changed');
    const many = { files: 3, cells: 2, variables: 0 };
    expect(changedText(many, trans)).toBe('3 files, 2 cells changed');
    const none = { files: 0, cells: 0, variables: 0 };
    expect(changedText(none, trans)).toBe('nothing changed');
  });
});
