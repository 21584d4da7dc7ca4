import type { TranslationBundle } from '@jupyterlab/translation';

/**
 * Why a value is not accepted, in the reader's language.
 *
 * @param reason - What the server's validation says, in English.
 *
 * @returns A sentence without a full stop; the English one if it is unknown here.
 */
export function reasonText(trans: TranslationBundle, reason: string): string {
  for (const { pattern, write } of REASONS) {
    const match = pattern.exec(reason);
    if (match) {
      return write(trans, match.slice(1));
    }
  }
  return reason;
}

interface IReason {
  readonly pattern: RegExp;
  readonly write: (
    trans: TranslationBundle,
    parts: readonly string[]
  ) => string;
}

const REASONS: readonly IReason[] = [
  {
    pattern: /^must be greater than or equal to (\S+)$/,
    write: (trans, [limit]) => trans.__('it must be at least %1', limit)
  },
  {
    pattern: /^must be less than or equal to (\S+)$/,
    write: (trans, [limit]) => trans.__('it must be at most %1', limit)
  },
  {
    pattern: /^must be greater than (\S+)$/,
    write: (trans, [limit]) => trans.__('it must be more than %1', limit)
  },
  {
    pattern: /^must be less than (\S+)$/,
    write: (trans, [limit]) => trans.__('it must be less than %1', limit)
  },
  {
    pattern: /^must be a valid integer/,
    write: trans => trans.__('it must be a whole number')
  },
  {
    pattern: /^must be a valid number/,
    write: trans => trans.__('it must be a number')
  },
  {
    pattern: /^must be a valid boolean/,
    write: trans => trans.__('it must be on or off')
  },
  {
    pattern: /^must be a valid string/,
    write: trans => trans.__('it must be text')
  },
  {
    pattern: /^must have at least (\d+) characters?$/,
    write: (trans, [count]) =>
      trans._n(
        'it must have at least %1 character',
        'it must have at least %1 characters',
        Number(count)
      )
  },
  {
    pattern: /^must have at most (\d+) characters?$/,
    write: (trans, [count]) =>
      trans._n(
        'it must have at most %1 character',
        'it must have at most %1 characters',
        Number(count)
      )
  },
  {
    pattern: /^must have at most (\d+) items?/,
    write: (trans, [count]) =>
      trans._n(
        'it must have at most %1 entry',
        'it must have at most %1 entries',
        Number(count)
      )
  },
  {
    pattern: /^must match pattern (.+)$/,
    write: (trans, [pattern]) => trans.__('it must have the form %1', pattern)
  },
  {
    pattern: /^must be an address that begins with http/,
    write: trans =>
      trans.__('it must be an address that begins with http:// or https://')
  },
  {
    pattern: /^must not contain a user name or password/,
    write: trans =>
      trans.__(
        'it must not contain a user name or password; save the key in its own field'
      )
  },
  {
    pattern: /^must not contain a key in its query/,
    write: trans =>
      trans.__(
        'it must not contain a key in its query; save the key in its own field'
      )
  },
  {
    pattern: /^the header (.+) looks like it holds a key/,
    write: (trans, [header]) =>
      trans.__(
        'the header %1 looks like it holds a key; put it into the secret headers',
        header
      )
  },
  {
    pattern: /^is not a regular expression/,
    write: trans => trans.__('it contains an invalid regular expression')
  },
  {
    pattern: /^names a tool group twice/,
    write: trans => trans.__('it names a tool group twice')
  },
  {
    pattern: /^(.+): must be -1 or between 5 and 100$/,
    write: (trans, [profile]) =>
      trans.__('%1: it must be -1 or between 5 and 100', profile)
  },
  {
    pattern: /^unknown$/,
    write: trans => trans.__('there is no setting with this name')
  },
  {
    pattern: /^it is empty$/,
    write: trans => trans.__('it is empty')
  },
  {
    pattern: /^it is longer than (\d+) characters$/,
    write: (trans, [count]) =>
      trans._n(
        'it is longer than %1 character',
        'it is longer than %1 characters',
        Number(count)
      )
  },
  {
    pattern: /^it contains characters that cannot be printed$/,
    write: trans => trans.__('it contains characters that cannot be displayed')
  }
];
