import type { JSONObject } from '@lumino/coreutils';

import type { IField } from '../fields';
import { fieldsOfProvider, groupFields, readFields } from '../fields';
import { normalized, matches, searchFields } from '../settingssearch';
import { formatValue, readValue } from '../fieldvalues';
import { GLOBAL_SCHEMA, PROVIDER_SCHEMA } from '../../__tests__/settingsschema';

const fields = readFields(GLOBAL_SCHEMA);

function field(key: string, all: readonly IField[] = fields): IField {
  const found = all.find(one => one.key === key);
  if (!found) {
    throw new Error(`no field ${key}`);
  }
  return found;
}

function text(title: string, description: string) {
  return { title, description };
}

describe('readFields', () => {
  it('orders the fields as the schema does and leaves hidden ones out', () => {
    expect(fields.map(({ key }) => key)).toEqual([
      'autoApprovalEnabled',
      'checkpointTimeout',
      'allowedMaxCost',
      'allowedCommands',
      'language',
      'maskedKinds',
      'customInstructions',
      'experiments',
      'secretStorage'
    ]);
  });

  it('finds out how each field is edited', () => {
    expect(fields.map(({ kind }) => kind)).toEqual([
      'switch',
      'integer',
      'number',
      'lines',
      'choice',
      'choices',
      'paragraph',
      'json',
      'choice'
    ]);
    const profile = readFields(PROVIDER_SCHEMA);
    expect(profile.map(({ kind }) => kind)).toEqual([
      'choice',
      'text',
      'secret',
      'text',
      'flag'
    ]);
  });

  it('reads bounds, defaults and whether there may be no value', () => {
    expect(field('checkpointTimeout')).toMatchObject({
      minimum: 10,
      maximum: 60,
      defaultValue: 15,
      nullable: false,
      advanced: true
    });
    expect(field('allowedMaxCost')).toMatchObject({
      minimum: null,
      maximum: 1000,
      nullable: true
    });
  });

  it('follows references to the labels of choices', () => {
    const { choices } = field('maskedKinds');
    expect(choices.map(({ value, title }) => [value, title])).toEqual([
      ['jwt', 'Web tokens'],
      ['email', 'E-mail addresses']
    ]);
  });

  it('puts translated texts in place of English ones', () => {
    const translated = readFields(
      PROVIDER_SCHEMA,
      {
        thinking: text('생각', '설명'),
        apiModelId: text('모델', ''),
        'profile.apiModelId': text('프로필의 모델', ''),
        'choice:apiProvider:ollama': text('올라마', '')
      },
      'profile.'
    );
    const thinking = field('thinking', translated);
    expect([thinking.title, thinking.description]).toEqual(['생각', '설명']);
    expect(field('apiModelId', translated).title).toBe('프로필의 모델');
    expect(field('apiProvider', translated).choices[1].title).toBe('올라마');
  });

  it('edits a union it does not know as JSON', () => {
    const schema: JSONObject = {
      properties: {
        odd: {
          anyOf: [{ type: 'string' }, { type: 'integer' }],
          'x-group': 'a'
        }
      }
    };
    const [odd] = readFields(schema);
    expect([odd.kind, odd.title]).toEqual(['json', 'odd']);
  });
});

describe('groupFields', () => {
  it('keeps the order of the schema and leaves empty groups out', () => {
    const groups = groupFields(GLOBAL_SCHEMA, fields, {
      'group:ui': text('모양', '')
    });
    expect(groups.map(({ id, title }) => [id, title])).toEqual([
      ['approvals', 'Approvals'],
      ['ui', '모양']
    ]);
  });
});

describe('fieldsOfProvider', () => {
  const profile = readFields(PROVIDER_SCHEMA);

  it('shows what a provider uses and nothing of the others', () => {
    const keys = fieldsOfProvider(profile, 'ollama').map(({ key }) => key);
    expect(keys).toEqual(['apiProvider', 'ollamaBaseUrl', 'thinking']);
  });

  it('shows what all providers share while there is none', () => {
    const keys = fieldsOfProvider(profile, null).map(({ key }) => key);
    expect(keys).toEqual(['apiProvider', 'thinking']);
  });
});

describe('searchFields', () => {
  const found = (query: string) =>
    searchFields(fields, query).map(({ key }) => key);

  it('finds everything when nothing is asked', () => {
    expect(found('  ')).toHaveLength(fields.length);
  });

  it('wants every word, in any order and place', () => {
    expect(found('commands allowed')).toEqual(['allowedCommands']);
    expect(found('allowed cost')).toEqual(['allowedMaxCost']);
    expect(found('allowed nonsense')).toEqual([]);
  });

  it('finds by name, description and the titles of choices', () => {
    expect(found('checkpointTimeout')).toEqual(['checkpointTimeout']);
    expect(found('follows jupyterlab')).toEqual(['language']);
    expect(found('web tokens')).toEqual(['maskedKinds']);
  });

  it('finds a syllable that is still being typed', () => {
    expect(matches('저자', ['저장'])).toBe(true);
    expect(matches('ㅎㅏㄴ', ['한국어'])).toBe(false);
    expect(matches('한구', ['한국어'])).toBe(true);
  });

  it('does not mind accents, case and width, but minds the marks of kana', () => {
    expect(matches('francais', ['Français'])).toBe(true);
    expect(matches('ＡＰＩ', ['Api'])).toBe(true);
    expect(matches('が', ['か'])).toBe(false);
    expect(normalized('İ')).toBe('i');
  });
});

describe('values', () => {
  it.each([
    ['checkpointTimeout', 15, '15'],
    ['allowedMaxCost', null, ''],
    ['allowedCommands', ['git log', 'ls'], 'git log\nls'],
    ['autoApprovalEnabled', true, 'true'],
    ['language', 'ko', 'ko']
  ])('writes %s as text and reads it back', (key, value, text) => {
    expect(formatValue(field(key), value)).toBe(text);
    expect(readValue(field(key), text)).toEqual({ ok: true, value });
  });

  it('drops empty lines and spaces around entries', () => {
    expect(readValue(field('allowedCommands'), ' a \n\n b\n')).toEqual({
      ok: true,
      value: ['a', 'b']
    });
  });

  it('leaves bounds to the server', () => {
    expect(readValue(field('checkpointTimeout'), '700')).toEqual({
      ok: true,
      value: 700
    });
  });

  it('says what cannot be a value at all', () => {
    expect(readValue(field('checkpointTimeout'), '')).toEqual({
      ok: false,
      code: 'not_a_number'
    });
    expect(readValue(field('allowedMaxCost'), 'two')).toEqual({
      ok: false,
      code: 'not_a_number'
    });
    expect(readValue(field('experiments'), '{')).toEqual({
      ok: false,
      code: 'not_json'
    });
  });
});
