import type { TranslationBundle } from '@jupyterlab/translation';

import type { McpServer, McpTool } from '../../generated/wire';

/**
 * How a server is, in a word or two.
 */
export function stateText(server: McpServer, trans: TranslationBundle): string {
  if (server.forbidden) {
    return trans.__('Not allowed by your administrator');
  }
  if (server.unusable) {
    return trans.__('Cannot be used');
  }
  if (server.disabled) {
    return trans.__('Off');
  }
  switch (server.authStatus) {
    case 'unauthenticated':
      return trans.__('Sign-in needed');
    case 'awaiting_auth':
      return trans.__('Waiting for you to sign in');
    default:
      break;
  }
  switch (server.status) {
    case 'connected':
      return trans.__('Connected');
    case 'connecting':
      return trans.__('Connecting…');
    case 'disconnected':
      return trans.__('Not connected');
  }
}

/**
 * What a server says a tool does, which nobody has checked; empty if it says nothing.
 */
export function claimText(
  { destructive, readOnly }: McpTool,
  trans: TranslationBundle
): string {
  if (readOnly) {
    return trans.__('Says it only reads');
  }
  return destructive ? trans.__('Says it can delete or overwrite') : '';
}
