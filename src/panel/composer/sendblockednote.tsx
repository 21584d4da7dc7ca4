import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { Notice } from '../../ui/controls/notice';
import { usePanel } from '../../ui/services';
import { plainName } from '../../ui/texts/visibletext';
import type { SendBlocker } from '../../state/panel/senddraft';

/**
 * Why nothing can be sent, and what to do about it.
 */
export function SendBlockedNote({
  id,
  hindrance,
  isSending
}: {
  readonly id: string;
  readonly hindrance: SendBlocker;

  /**
   * Whether a message is under way.
   */
  readonly isSending: boolean;
}): JSX.Element {
  const { openSettings, trans } = usePanel();
  const isModel =
    hindrance.kind === 'noModel' || hindrance.kind === 'forbidden';
  return (
    <Notice
      level="warning"
      text={blockerText(hindrance, isSending, trans)}
      textId={id}
      textRole="status"
      actions={
        isModel
          ? [
              {
                label: trans.__('Choose a model'),
                onClick: () => openSettings('models')
              }
            ]
          : []
      }
    />
  );
}

/**
 * Why nothing can be sent, in words.
 *
 * @param isSending - Whether a message is under way.
 */
export function blockerText(
  hindrance: SendBlocker,
  isSending: boolean,
  trans: TranslationBundle
): string {
  switch (hindrance.kind) {
    case 'offline':
      return isSending
        ? trans.__(
            'Your message will be delivered when the connection is back.'
          )
        : trans.__("You are offline and can't send. What you type stays here.");
    case 'noModel':
      return trans.__(
        'Choose a model before you send. What you type stays here.'
      );
    case 'agentGone':
      return trans.__(
        '%1 is no longer connected. What you type stays here.',
        plainName(hindrance.agent)
      );
    case 'forbidden':
      return trans.__(
        'Your administrator does not allow %1. Choose another model. What you type stays here.',
        hindrance.provider
      );
  }
}
