import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import { API_PATH } from '../generated/rest';
import { COMM_PATH, PROTOCOL_VERSION } from '../generated/wire';
import { ChannelClient } from './client';
import { claimClientId } from './clientid';
import { pageVersion } from './version';

/**
 * A client for the server these settings lead to; it does not connect yet.
 */
export function createClient(
  settings: ServerConnection.ISettings
): ChannelClient {
  return new ChannelClient({
    openSocket: () => new settings.WebSocket(channelUrl(settings)),
    probe: () => probe(settings),
    clientId: claimClientId(window),
    version: pageVersion,
    protocol: PROTOCOL_VERSION,
    isOnline: () => navigator.onLine,
    page: { window, document }
  });
}

/**
 * Where the channel is; with the token only where cookies cannot go.
 */
function channelUrl(
  settings: Pick<ServerConnection.ISettings, 'appendToken' | 'token' | 'wsUrl'>
): string {
  const url = URLExt.join(settings.wsUrl, COMM_PATH);
  return settings.appendToken && settings.token !== ''
    ? `${url}?token=${encodeURIComponent(settings.token)}`
    : url;
}

async function probe(
  settings: ServerConnection.ISettings
): Promise<number | null> {
  const url = URLExt.join(settings.baseUrl, API_PATH, 'health');
  try {
    const response = await ServerConnection.makeRequest(url, {}, settings);
    return response.status;
  } catch {
    return null;
  }
}
