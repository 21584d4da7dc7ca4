import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  LearnedItemView,
  LearnedSource,
  MemoryView,
  NoteLine
} from '../../generated/rest';
import { noModelText } from '../../nomodeltext';
import type { Forgettable } from '../../rest/memoryapi';
import {
  costText,
  dateTimeText,
  dayText,
  fullCount
} from '../../ui/texts/formats';
import { noteScope } from '../../ui/texts/notescope';

/**
 * The group of settings below which is shown what is remembered.
 */
export const MEMORY_GROUP = 'memory';

const SHORT = 60;

/**
 * The beginning of a text, for the name of what is done with it.
 */
export function shortText(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > SHORT ? `${line.slice(0, SHORT - 1).trimEnd()}…` : line;
}

/**
 * What a note is found by.
 */
export function noteTexts(
  trans: TranslationBundle,
  { day, scope, text }: NoteLine
): string[] {
  return [text, day ?? '', noteScope(scope, trans) ?? ''];
}

/**
 * What a line that was learned is found by.
 */
export function learnedTexts({
  section,
  sources,
  text
}: LearnedItemView): string[] {
  return [section, text, ...sources.map(sourceName)];
}

/**
 * What a conversation is called that something was learned from.
 */
export function sourceName({ beganAt, slug }: LearnedSource): string {
  const day = dayText(beganAt.slice(0, 10));
  return slug ? `${slug.replace(/[-_]+/g, ' ')}, ${day}` : day;
}

/**
 * The heading that a line stands under, without what only the model needs.
 */
export function sectionTitle(
  trans: TranslationBundle,
  { file, section }: Pick<LearnedItemView, 'file' | 'section'>
): string {
  switch (section) {
    case 'User Profile':
      return trans.__('About you');
    case 'General Tips':
      return trans.__('General tips');
    default:
      return (
        section.replace(/^Task Group: /, '').replace(/ › learnings$/, '') ||
        file
      );
  }
}

/**
 * From how much was learned, when, and what it took.
 */
export function learningText(
  trans: TranslationBundle,
  { conversations, consolidatedAt, spending }: MemoryView['memory']
): string {
  const tokens = spending.tokensIn + spending.tokensOut;
  return [
    conversations > 0
      ? trans._n(
          'Learned from %1 conversation so far.',
          'Learned from %1 conversations so far.',
          conversations
        )
      : '',
    consolidatedAt
      ? trans.__('Last update: %1.', dateTimeText(Date.parse(consolidatedAt)))
      : '',
    tokens > 0
      ? spending.cost > 0
        ? trans.__(
            'Cost: %1 (%2 tokens).',
            costText(spending.cost),
            fullCount(tokens)
          )
        : trans.__('Cost: %1 tokens.', fullCount(tokens))
      : ''
  ]
    .filter(Boolean)
    .join(' ');
}

/**
 * How the last round of learning ended.
 */
export function roundText(
  trans: TranslationBundle,
  round: NonNullable<MemoryView['lastRound']>
): string {
  const at = dateTimeText(Date.parse(round.endedAt));
  const { conversations, noModel } = round;
  const { error = trans.__('Unknown reason.') } = round;
  switch (round.outcome) {
    case 'learned':
      return conversations > 0
        ? trans._n(
            'Last attempt (%2): learned from %1 conversation.',
            'Last attempt (%2): learned from %1 conversations.',
            conversations,
            at
          )
        : trans.__('Last attempt (%1): memory was updated.', at);
    case 'nothing':
      return trans.__('Last attempt (%1): there was nothing to learn.', at);
    case 'waiting':
      return trans.__(
        'Last attempt (%1): conversations are waiting because the daily limit is reached or the model is busy.',
        at
      );
    case 'unusable':
      return trans.__(
        "Last attempt (%1): couldn't learn. %2",
        at,
        noModel ? noModelText(noModel, trans) : error
      );
    case 'failed':
      return trans.__('Last attempt (%1) failed: %2', at, error);
  }
}

/**
 * What to call, ask and say when everything of a kind is deleted.
 */
export function forgetTexts(
  trans: TranslationBundle,
  what: Forgettable
): { label: string; title: string; body: string; done: string } {
  switch (what) {
    case 'notes':
      return {
        label: trans.__('All my notes'),
        title: trans.__('Delete all your notes?'),
        body: trans.__(
          "This can't be undone. Notes for folders and notebooks stay."
        ),
        done: trans.__('All your notes were deleted.')
      };
    case 'learned':
      return {
        label: trans.__('Everything learned'),
        title: trans.__('Delete everything learned?'),
        body: trans.__(
          "This can't be undone. The agent won't learn it again from the same conversations. Your notes stay."
        ),
        done: trans.__('Everything learned was deleted.')
      };
    case 'all':
      return {
        label: trans.__('Everything'),
        title: trans.__('Delete your notes and everything learned?'),
        body: trans.__(
          "This can't be undone. The agent won't learn it again from the same conversations. Notes for folders and notebooks stay."
        ),
        done: trans.__('Your notes and everything learned were deleted.')
      };
  }
}
