import { nullTranslator } from '@jupyterlab/translation';

import type { Command } from '../../../generated/wire';
import { slashCommandDetail } from '../slashcommands';

const TRANS = {
  ...nullTranslator.load('hdsp_agent'),
  __: (text: string) => `«${text}»`
};

describe('slashCommandDetail()', () => {
  const fix: Command = {
    name: 'fix',
    source: 'built-in',
    description: 'In English',
    argumentHint: 'what fails'
  };

  it('should say what a built-in command does in the language of the reader', () => {
    expect(slashCommandDetail(fix, TRANS)).toMatch(/^«.+» — «what fails»$/);
  });

  it('should leave the words of a person, and of a newer server, alone', () => {
    const own = { ...fix, source: 'global' as const };
    expect(slashCommandDetail(own, TRANS)).toBe('In English — what fails');
    expect(slashCommandDetail({ ...fix, name: 'new' }, TRANS)).toBe(
      'In English — what fails'
    );
    expect(slashCommandDetail({ name: 'x', source: 'project' }, TRANS)).toBe(
      ''
    );
  });
});
