import { Dialog, ReactWidget, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ChannelClient } from '../comm/client';
import { phaseLabel } from '../panel/connection';

/**
 * Show what one is asked for when the connection does not work.
 */
export async function showConnectionDetails(
  client: ChannelClient,
  trans: TranslationBundle
): Promise<void> {
  const copy = Dialog.createButton({ label: trans.__('Copy') });
  const lines = detailsOf(client, trans);
  const result = await showDialog({
    title: trans.__('HDSP Agent: connection'),
    body: ReactWidget.create(<Details lines={lines} />),
    buttons: [copy, Dialog.okButton({ label: trans.__('Close') })]
  });
  if (result.button.label === copy.label) {
    const text = lines.map(([name, value]) => `${name}: ${value}`).join('\n');
    await navigator.clipboard.writeText(text);
  }
}

/**
 * Names and values that describe a connection; nothing secret is among them.
 */
export function detailsOf(
  {
    status,
    clientId,
    place
  }: Pick<ChannelClient, 'status' | 'clientId' | 'place'>,
  trans: TranslationBundle
): [string, string][] {
  const unknown = trans.__('unknown');
  return [
    [trans.__('State'), phaseLabel(status.phase, trans)],
    [trans.__('Reason'), status.reason ?? '–'],
    [trans.__('Failed tries'), String(status.attempt)],
    [trans.__('Version of this page'), status.pageVersion],
    [trans.__('Version of the server'), status.serverVersion ?? unknown],
    [trans.__('This tab'), clientId],
    [trans.__('Server run'), place.epoch ?? unknown],
    [trans.__('Last message'), place.last?.toString() ?? unknown]
  ];
}

function Details({ lines }: { lines: [string, string][] }): JSX.Element {
  return (
    <dl className="jp-hdspAgent-details">
      {lines.map(([name, value]) => (
        <React.Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </React.Fragment>
      ))}
    </dl>
  );
}
