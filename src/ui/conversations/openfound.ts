import type { TranslationBundle } from '@jupyterlab/translation';

import type { RecallFound } from '../../generated/rest';
import { openPlace } from '../controls/openplace';
import type { IPanelServices } from '../services';
import { plainName } from '../texts/visibletext';
import { plainTitle } from './opentasks';
import { showConversation } from './conversationactions';

/**
 * Where something was said or written that was found.
 */
export type FoundPlace = Pick<
  RecallFound,
  'kind' | 'source' | 'title' | 'path' | 'place'
>;

/**
 * The name under which notes are found; all else in memory is a file.
 */
const NOTES = 'notes';

/**
 * Open what was found where it stands: a conversation at the message, a
 * notebook at the cell, the page of what is remembered.
 *
 * @returns Whether it is still there.
 */
export async function openFound(
  services: IPanelServices,
  { kind, source, path, place }: FoundPlace
): Promise<boolean> {
  switch (kind) {
    case 'conversation':
      await showConversation(services, source, Number(place) || null);
      return true;
    case 'notebook':
      return path !== undefined && openPlace(services, path, place);
    case 'memory':
      services.openSettings('memory');
      return true;
  }
}

/**
 * What the place of something that was found is called.
 */
export function foundName(
  { kind, source, title, path }: FoundPlace,
  trans: TranslationBundle
): string {
  switch (kind) {
    case 'conversation':
      return plainTitle(title, trans);
    case 'notebook':
      return plainName(path ?? title);
    case 'memory':
      return source === NOTES ? trans.__('Notes') : plainName(title);
  }
}
