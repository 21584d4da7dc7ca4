import {
  Clipboard,
  Dialog,
  ReactWidget,
  showDialog
} from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ChannelClient } from '../comm/client';
import { connectionDetails } from './connectiondetails';

/**
 * Show what one is asked for when the connection does not work.
 */
export async function showConnectionDetails(
  client: ChannelClient,
  trans: TranslationBundle
): Promise<void> {
  const copy = Dialog.createButton({
    label: trans.__('Copy'),
    className: 'jp-mod-reject'
  });
  const lines = connectionDetails(client, trans);
  const result = await showDialog({
    title: trans.__('HDSP Agent: connection'),
    body: ReactWidget.create(<Details lines={lines} />),
    buttons: [copy, Dialog.okButton({ label: trans.__('Close') })]
  });
  if (result.button.label === copy.label) {
    const text = lines.map(([name, value]) => `${name}: ${value}`).join('\n');
    // Unlike the browser's own clipboard, this works without HTTPS too.
    Clipboard.copyToSystem(text);
  }
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
