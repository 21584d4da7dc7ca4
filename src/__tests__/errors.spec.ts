import { nullTranslator } from '@jupyterlab/translation';
import { RequestError } from '../comm/requesterror';
import { asErrorBody, errorText, knownCodes } from '../errors';
import { reasonText } from '../validationtexts';

const trans = nullTranslator.load('hdsp_agent');
describe('errorText', () => {
  it('leaves no placeholder open, whatever parameters are missing', () => {
    for (const code of knownCodes()) {
      const text = errorText(trans, { code, message: 'M', params: {} });
      expect(text).not.toMatch(/%\d|undefined|null/);
      expect(text).not.toBe('');
    }
  });

  it('fills in what the server says', () => {
    expect(
      errorText(trans, {
        code: 'invalid_setting',
        message: 'English',
        params: { reason: 'must be less than or equal to 60' },
        field: 'checkpointTimeout'
      })
    ).toBe(
      'This value cannot be used: it must be at most 60. The setting was not changed.'
    );
    expect(
      errorText(trans, {
        code: 'secret_storage_unavailable',
        message: 'English',
        params: { cause: 'keyring_locked' }
      })
    ).toContain('The system keyring is locked.');
  });

  it('says whether one can go on while the database is away', () => {
    const error = { code: 'storage_unavailable', message: 'English' };
    const params = { database: 'host=db', reason: 'unreachable' };
    expect(errorText(trans, { ...error, params })).toContain('Could not use');
    expect(
      errorText(trans, { ...error, params: { ...params, kept: 'here' } })
    ).toContain('is kept on this server');
  });

  it('says what cannot be shown while the object store is away', () => {
    const error = { code: 'artifact_store_unavailable', message: 'English' };
    const params = { store: 'the object store s3://b', reason: 'down' };
    expect(errorText(trans, { ...error, params })).toContain(
      'the object store s3://b is away (down)'
    );
    expect(
      errorText(trans, { ...error, params: { store: '', reason: 'not set' } })
    ).toContain('artifact_store_url');
  });

  it('says why a model gave no answer, in the words of its row', () => {
    const error = { code: 'model_error', message: 'A teapot.' };
    for (const [kind, text] of [
      ['timeout', 'The provider took too long to answer.'],
      ['other', 'The model gave no answer: A teapot.'],
      ['constructor', 'The model gave no answer: A teapot.']
    ]) {
      expect(errorText(trans, { ...error, params: { kind } })).toBe(text);
    }
  });

  it('says why nothing can be learned', () => {
    const error = { code: 'conflict', message: 'English' };
    for (const [no_model, text] of [
      ['not_set_up', 'No model is set up to learn from conversations.'],
      ['too_small', 'The embedded model is too small to learn'],
      ['of_a_later_version', 'This is not possible now: English']
    ]) {
      expect(errorText(trans, { ...error, params: { no_model } })).toContain(
        text
      );
    }
  });

  it('shows the English sentence of a code it does not know', () => {
    const error = { code: 'of_a_later_version', message: 'It rained.' };
    expect(errorText(trans, error)).toBe('It rained.');
  });
});

describe('reasonText', () => {
  it.each([
    ['must be greater than or equal to 10', 'it must be at least 10'],
    ['must be less than or equal to 600000', 'it must be at most 600000'],
    ['must be greater than 0', 'it must be more than 0'],
    ['must be a valid integer', 'it must be a whole number'],
    ['must be a valid list (at 2)', 'must be a valid list (at 2)']
  ])('reads “%s”', (reason, text) => {
    expect(reasonText(trans, reason)).toBe(text);
  });
});

describe('asErrorBody', () => {
  it('takes over what has a code and wraps what has none', () => {
    const body = { code: 'conflict', message: 'no', params: { a: 1 } };
    expect(asErrorBody(new RequestError(body))).toMatchObject(body);
    expect(asErrorBody(new Error('boom'))).toEqual({
      code: 'internal',
      message: 'boom',
      params: {}
    });
    expect(asErrorBody('text').message).toBe('text');
  });
});
