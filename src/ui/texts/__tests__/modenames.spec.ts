import { nullTranslator } from '@jupyterlab/translation';

import { modeDescription, modeName } from '../modenames';

const trans = {
  ...nullTranslator.load('hdsp_agent'),
  _p: (_: string, text: string) => `«${text}»`
};
const OWN = [
  {
    slug: 'ask',
    name: 'Tutor',
    roleDefinition: 'r',
    description: 'Teaches',
    groups: []
  },
  { slug: 'mine', name: 'Mine', roleDefinition: 'r', groups: [] }
];

describe('what a mode is called', () => {
  it.each([
    ['of everybody is translated', 'code', 'Code', '«Agent»'],
    ['somebody named keeps that name', 'ask', 'Ask', 'Tutor'],
    ['nobody here knows keeps what it is called', 'data', 'Data', 'Data'],
    ['without a name is called by its id', 'data', undefined, 'data']
  ])('a mode %s', (_, slug, name, expected) => {
    expect(modeName(trans, slug, OWN, name)).toBe(expected);
  });
});

describe('what a mode does', () => {
  it.each([
    ['code', '«Edits and runs, asks first»'],
    ['architect', '«Plans, then you decide»'],
    ['ask', 'Teaches'],
    ['mine', ''],
    ['data', '']
  ])('is said of %s in a line', (slug, expected) => {
    expect(modeDescription(trans, slug, OWN)).toBe(expected);
  });
});
