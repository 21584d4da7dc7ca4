import { Dialog, ReactWidget, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { settingsText } from '../../../generated/settingsText';
import type { GlobalSettings } from '../../../generated/wire';
import type { ApprovedClass } from './approvedclasses';
import { possibilities } from './autoapprovaltexts';

/**
 * Where it could do it.
 */
export type ConfirmedScope = 'conversation' | 'notebook' | 'program' | 'always';

/**
 * Say what the agent could do without asking, and ask whether it may.
 *
 * @param isLast - Whether one is not asked this again.
 */
export async function confirmKinds(
  trans: TranslationBundle,
  kinds: readonly ApprovedClass[],
  settings: GlobalSettings,
  scope: ConfirmedScope,
  isLast = true
): Promise<boolean> {
  const { button } = await showDialog({
    title: trans.__('Let the agent do this without asking?'),
    body: ReactWidget.create(
      <Possibilities {...{ trans, kinds, settings, scope, isLast }} />
    ),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.warnButton({ label: trans.__('Allow without asking') })
    ],
    // Enter allows nothing.
    defaultButton: 0
  });
  return button.accept;
}

function Possibilities({
  trans,
  kinds,
  settings,
  scope,
  isLast
}: {
  readonly trans: TranslationBundle;
  readonly kinds: readonly ApprovedClass[];
  readonly settings: GlobalSettings;
  readonly scope: ConfirmedScope;
  readonly isLast: boolean;
}): JSX.Element {
  const words = settingsText(trans);
  const places: Readonly<Record<ConfirmedScope, string>> = {
    conversation: trans.__('In this conversation:'),
    notebook: trans.__('In all conversations about this notebook:'),
    program: trans.__('In all conversations of this program:'),
    always: trans.__('In all your conversations, from now on:')
  };
  const restarts =
    kinds.includes('alwaysAllowRunCells') &&
    kinds.includes('alwaysAllowExecute');
  return (
    <div className="jp-hdspAgent-autoApprove-dialog">
      <p>{places[scope]}</p>
      {/* In a low window it scrolls, so that it must be reached by keyboard. */}
      <ul tabIndex={0}>
        {possibilities(kinds, settings, trans).map(([name, sentence]) => (
          <li key={name}>
            <strong>{words[name]?.title ?? name}</strong> {sentence}
          </li>
        ))}
        {restarts && (
          <li>
            <strong>{trans.__('Restarting kernels')}</strong>{' '}
            {trans.__(
              'The agent restarts and interrupts kernels. A restart loses all variables.'
            )}
          </li>
        )}
      </ul>
      <p>
        {trans.__(
          'Denied commands stay denied. The agent still asks before it uses a masked key.'
        )}
      </p>
      <p>
        {isLast
          ? trans.__(
              'You can switch this off at any time. Once you agree, you are not asked this again.'
            )
          : trans.__('You can switch this off at any time.')}
      </p>
    </div>
  );
}
