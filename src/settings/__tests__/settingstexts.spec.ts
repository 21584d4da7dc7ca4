import { nullTranslator } from '@jupyterlab/translation';
import type { JSONObject } from '@lumino/coreutils';

import { readFields } from '../fields/fields';
import { modelText, valueText } from '../settingstexts';

const trans = nullTranslator.load('hdsp_agent');

function fieldOf(property: JSONObject) {
  const annotated = { ...property, 'x-group': 'any' };
  return readFields({ properties: { it: annotated } })[0];
}

describe('valueText()', () => {
  it('lists the lines of a list', () => {
    const field = fieldOf({ type: 'array', items: { type: 'string' } });
    expect(valueText(trans, field, ['git log', 'git diff'])).toBe(
      'git log, git diff'
    );
    expect(valueText(trans, field, [])).toBe('empty');
  });

  it('names what is chosen, and knows all from some', () => {
    const choices = ['a', 'b', 'c'].map(value => ({
      const: value,
      title: value.toUpperCase()
    }));
    const field = fieldOf({ type: 'array', items: { oneOf: choices } });
    expect(valueText(trans, field, ['a', 'b', 'c'])).toBe('all');
    expect(valueText(trans, field, ['a', 'gone'])).toBe('A, gone');
  });

  it('reads an absent value, a switch and an object', () => {
    const field = fieldOf({ type: 'boolean' });
    expect(valueText(trans, field, null)).toBe('not set');
    expect(valueText(trans, field, true)).toBe('on');
    expect(valueText(trans, fieldOf({ type: 'object' }), {})).toBe('empty');
  });
});

describe('modelText()', () => {
  const model = { id: 'm', provider: 'openai', deprecated: false } as const;

  it('says that nobody knows a price, and tells that from none', () => {
    expect(modelText(trans, model)).toBe('price unknown');
    expect(modelText(trans, { ...model, inputPrice: 0, outputPrice: 0 })).toBe(
      'free'
    );
    expect(
      modelText(trans, {
        ...model,
        contextWindow: 8000,
        inputPrice: 3,
        outputPrice: 15
      })
    ).toBe(
      'context window of 8,000 tokens · US$ 3 in, US$ 15 out per million tokens'
    );
  });
});
