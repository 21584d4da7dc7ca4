import { nullTranslator } from '@jupyterlab/translation';

import { modeName } from '../modenames';

const trans = {
  ...nullTranslator.load('hdsp_agent'),
  _p: (_: string, text: string) => `«${text}»`
};
const OWN = [{ slug: 'ask', name: 'Tutor', roleDefinition: 'r', groups: [] }];

describe('what a mode is called', () => {
  it.each([
    ['of everybody is translated', 'code', 'Code', '«Code»'],
    ['somebody named keeps that name', 'ask', 'Ask', 'Tutor'],
    ['nobody here knows keeps what it is called', 'data', 'Data', 'Data'],
    ['without a name is called by its id', 'data', undefined, 'data']
  ])('a mode %s', (_, slug, name, expected) => {
    expect(modeName(trans, slug, OWN, name)).toBe(expected);
  });
});
