import type { TranslationBundle } from '@jupyterlab/translation';

import type { ClineMessage } from '../../../generated/wire';
import { failureText } from '../../../modelfailuretexts';

/**
 * An error in words.
 */
export interface IProblem {
  readonly title: string;

  /**
   * What happened, in a few lines.
   */
  readonly text: string;

  /**
   * The rest of it.
   */
  readonly details: string;

  /**
   * What can be done about it; empty if nobody knows.
   */
  readonly advice: string;

  /**
   * The section of the settings that may help.
   */
  readonly section: string | null;
}

/**
 * How much of an error is shown at once.
 */
const MOST_CHARACTERS = 400;
const MOST_LINES = 5;

/**
 * What an error message says.
 */
export function problemOf(
  message: ClineMessage,
  trans: TranslationBundle
): IProblem {
  const kind = message.ask ?? message.say;
  const { text, details } = parted(
    failureText(message.modelFailure, message.text ?? '', trans)
  );
  const plain = { text, details, advice: '', section: null };
  switch (kind) {
    case 'api_req_failed':
      return {
        ...plain,
        title: trans.__('The model gave no answer'),
        advice: modelAdvice(message.modelFailure?.kind, trans),
        section: 'models'
      };
    case 'diff_error':
      return {
        ...plain,
        title: trans.__('A change could not be applied'),
        advice: trans.__(
          'Nothing was changed. The agent reads the file again and retries.'
        )
      };
    case 'rooignore_error':
      return {
        ...plain,
        title: trans.__('Not allowed'),
        text: trans.__('%1 is hidden from the agent.', text),
        advice: trans.__(
          'Remove it from .hdspignore if the agent should see it.'
        )
      };
    case 'condense_context_error':
      return {
        ...plain,
        title: trans.__('The conversation could not be condensed'),
        advice: trans.__(
          'Nothing was lost. The conversation continues as it was.'
        )
      };
    default:
      return message.text === NO_ANSWER
        ? {
            ...plain,
            title: trans.__('The model gave no answer'),
            text: trans.__('The model returned an empty answer twice.'),
            advice: trans.__(
              'Its server may be overloaded, or the conversation may be too long for it.'
            )
          }
        : {
            ...plain,
            title: message.notebook
              ? trans.__('The cell failed')
              : trans.__('Error')
          };
  }
}

/**
 * What the server says when a model said nothing at all, as Roo Code does.
 */
export const NO_ANSWER = 'MODEL_NO_ASSISTANT_MESSAGES';

/**
 * What can be done when a model gave no answer; empty where the server's
 * own words on it say that already.
 */
function modelAdvice(
  kind: string | undefined,
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'overflow':
    case 'overflow_output_budget':
    case 'payload_too_large':
      return trans.__(
        'Condense the conversation, start a new one, or use a model with a larger context window.'
      );
    case 'rate_limit':
      return trans.__('Wait a moment and try again, or use another model.');
    case 'authentication':
    case 'permission':
    case 'model_not_found':
    case 'quota':
    case 'budget':
    case 'content_filter':
    case 'network':
    case 'tpm_request_too_large':
      return '';
    default:
      return trans.__('Try again, or use another model.');
  }
}

function parted(whole: string): { text: string; details: string } {
  const [text, ...more] = whole.trim().split('\n\n');
  const isShort =
    whole.length <= MOST_CHARACTERS && whole.split('\n').length <= MOST_LINES;
  if (isShort) {
    return { text: whole.trim(), details: '' };
  }
  if (text.length <= MOST_CHARACTERS && text.split('\n').length <= MOST_LINES) {
    return { text, details: more.join('\n\n') };
  }
  const first = text.split('\n')[0].slice(0, MOST_CHARACTERS);
  return { text: `${first}…`, details: whole.trim() };
}
