import type { TranslationBundle } from '@jupyterlab/translation';

import type { HistoryItem, OpenTask } from '../../generated/wire';
import type { AgentStore } from '../../state/store';
import { unescapeAttribute } from '../../state/panel/attachments';

/**
 * How an open conversation is, as far as a person cares.
 */
export type OpenTaskPhase =
  'working' | 'asking' | 'failed' | 'paused' | 'done' | 'resting';

/**
 * The conversations that are open, in the order of the strip.
 */
export function openTasks({ state }: AgentStore): readonly OpenTask[] {
  return state?.openTasks ?? Private.NONE;
}

/**
 * How a conversation is.
 */
export function phaseOf({
  externalAgent,
  failed,
  needsYou,
  status
}: OpenTask): OpenTaskPhase {
  // What went wrong tells more than that somebody has to do something about it.
  // Another agent goes on from it by itself.
  if (failed && externalAgent === undefined) {
    return 'failed';
  }
  if (needsYou) {
    return 'asking';
  }
  switch (status) {
    case 'running':
    case 'interactive':
      return 'working';
    case 'resumable':
      return 'paused';
    case 'idle':
      // Whether another agent is done, only it knows.
      return externalAgent === undefined ? 'done' : 'resting';
    case 'none':
      return 'resting';
  }
}

/**
 * What each phase is called.
 */
export function phaseText(
  phase: OpenTaskPhase,
  trans: TranslationBundle
): string {
  switch (phase) {
    case 'working':
      return trans.__('working');
    case 'asking':
      return trans.__('needs you');
    case 'failed':
      return trans.__('stopped by an error');
    case 'paused':
      return trans.__('paused');
    case 'done':
      return trans.__('done');
    case 'resting':
      return trans.__('idle');
  }
}

/**
 * What a conversation is called: its title, or how it began.
 */
export function titleOf(
  item: Pick<HistoryItem, 'title' | 'task' | 'pictures'>,
  trans: TranslationBundle
): string {
  return plainTitle(item.title?.trim() || item.task, trans, item.pictures);
}

/**
 * A title without what went along with the first message, of which a
 * shortened title may have the beginning alone; on one line, and without
 * characters that are not seen.
 *
 * @param pictures - How many it began with, if it began without a word.
 */
export function plainTitle(
  title: string,
  trans: TranslationBundle,
  pictures?: number
): string {
  const begin = title.search(/<attachment kind="/);
  const words = begin === -1 ? title : title.slice(0, begin);
  const label = /<attachment kind="[^>]* label="([^"]+)"/.exec(title)?.[1];
  return (
    Private.visible(words) ||
    Private.visible(unescapeAttribute(label ?? '')) ||
    (pictures
      ? trans._n('%1 image', '%1 images', pictures)
      : trans.__('Untitled conversation'))
  );
}

/**
 * A title that stands in quotation marks at the end of a sentence: without a
 * full stop of its own.
 */
export function quotedTitle(title: string): string {
  return title.replace(/([^\s.。])[.。]$/u, '$1');
}

/**
 * The conversation next to the one on screen, around the ends; `null` if there is no other.
 */
export function adjacentTask(store: AgentStore, step: 1 | -1): string | null {
  const ids = openTasks(store).map(({ taskId }) => taskId);
  const current = store.state?.currentTaskId;
  const at = current === undefined ? -1 : ids.indexOf(current);
  if (ids.length === 0 || (ids.length === 1 && at === 0)) {
    return null;
  }
  const from = at === -1 && step === -1 ? 0 : at;
  return ids[(from + step + ids.length) % ids.length];
}

/**
 * A namespace for private data.
 */
namespace Private {
  /**
   * The same empty list each time, so that nothing seems to have changed.
   */
  export const NONE: readonly OpenTask[] = [];

  /**
   * A text on one line, with nothing in it that turns the direction of writing.
   */
  export function visible(text: string): string {
    return text
      .replace(/\s+/g, ' ')
      .replace(/(?![\u200C\u200D])[\p{Cc}\p{Cf}]/gu, '')
      .trim();
  }
}
