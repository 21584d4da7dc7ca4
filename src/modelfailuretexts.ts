import type { TranslationBundle } from '@jupyterlab/translation';

import type { ModelFailure } from './generated/wire';

/**
 * Why a model gave no answer, in the person's language.
 *
 * @param failure - What the server tells of it.
 *
 * @param text - The server's own words, which count where it tells too little,
 * as in older conversations.
 */
export function failureText(
  failure: ModelFailure | undefined,
  text: string,
  trans: TranslationBundle
): string {
  if (failure?.parts === undefined) {
    return text;
  }
  const { status, particular, raw } = failure.parts;
  if (failure.kind === 'other') {
    return paragraphs(
      trans.__('The provider refused the request: %1', particular ?? ''),
      raw
    );
  }
  const what = modelFailureText(trans, failure.kind);
  return what === null
    ? text
    : paragraphs(
        status === undefined
          ? what
          : trans.__('%1 (HTTP %2)', what, String(status)),
        particular,
        raw
      );
}

function paragraphs(...parts: (string | undefined)[]): string {
  return parts.filter(part => part !== undefined && part !== '').join('\n\n');
}

/**
 * What a class of failures means; `null` for `other`, and for one of a later
 * version.
 */
export function modelFailureText(
  trans: TranslationBundle,
  kind: string
): string | null {
  switch (kind) {
    case 'overflow':
      return trans.__('The conversation is too long for the model.');
    case 'overflow_output_budget':
      return trans.__(
        'The conversation and the longest allowed answer together are too long for the model.'
      );
    case 'output_cap':
      return trans.__('The model cannot write answers that long.');
    case 'payload_too_large':
      return trans.__('The request is too large for the provider.');
    case 'tpm_request_too_large':
      return trans.__(
        'This request is larger than what your account may send in a minute. Raise the limit or use another model.'
      );
    case 'rate_limit':
      return trans.__('Too many requests at the moment.');
    case 'quota':
      return trans.__(
        'The account has no credit or quota left. Add some at the provider, or choose another profile.'
      );
    case 'budget':
      return trans.__(
        'The limit that your administrator set for the use of models is reached.'
      );
    case 'empty_content':
      return trans.__(
        'The provider refuses an empty message in the conversation.'
      );
    case 'tool_pairing':
      return trans.__(
        'The provider refuses the order of tool calls and results in the conversation.'
      );
    case 'authentication':
      return trans.__(
        'The provider does not accept the key. Check the key of this profile in the settings.'
      );
    case 'permission':
      return trans.__(
        'This key is not allowed to do this. Check its permissions at the provider, or choose another model.'
      );
    case 'model_not_found':
      return trans.__(
        'The provider does not have this model. Choose another one in the profile.'
      );
    case 'content_filter':
      return trans.__(
        "The provider's content filter blocked this. Rephrase it, or choose another model."
      );
    case 'overloaded':
      return trans.__('The provider is overloaded or down at the moment.');
    case 'network':
      return trans.__(
        'The provider could not be reached. Check the connection and the address.'
      );
    case 'timeout':
      return trans.__('The provider took too long to answer.');
    case 'broken_stream':
      return trans.__('The answer was cut off. What it asked for was not run.');
    default:
      return null;
  }
}
