import type { ReactWidget } from '@jupyterlab/apputils';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { flushSync } from 'react-dom';

/**
 * Draw the body of a dialog before the dialog is put on the page, because that
 * is when it looks for where the focus goes, and where Tab begins anew.
 */
export function drawDialogBody(body: ReactWidget): void {
  flushSync(() => MessageLoop.sendMessage(body, Widget.Msg.UpdateRequest));
}
