import { ServerConnection } from '@jupyterlab/services';

import { RequestError } from '../../comm/requesterror';
import { SettingsApi } from '../settingsapi';
import { FakeServer } from '../../settings/__tests__/fakeserver';

function apiAnswering(answer: () => Response): SettingsApi {
  return new SettingsApi(
    ServerConnection.makeSettings({
      baseUrl: 'http://localhost:8888/',
      fetch: () => Promise.resolve(answer())
    })
  );
}

async function refusalOf(request: Promise<unknown>): Promise<RequestError> {
  try {
    await request;
  } catch (reason) {
    if (reason instanceof RequestError) {
      return reason;
    }
    throw reason;
  }
  throw new Error('The request was not refused.');
}

describe('SettingsApi', () => {
  it('asks under the base URL and escapes names', async () => {
    const server = new FakeServer();
    const api = new SettingsApi(server.serverSettings);
    expect((await api.profile('a/b 한글')).id).toBe('p2');
    await api.setSecret('a/b 한글', 'apiKey', 'v');
    await api.models('openai-native');
    expect(server.requests).toEqual([
      'GET profiles/a%2Fb%20%ED%95%9C%EA%B8%80',
      'PUT secrets/a%2Fb%20%ED%95%9C%EA%B8%80/apiKey',
      'GET models'
    ]);
  });

  it('rejects with the code, field and parameters of the server', async () => {
    const server = new FakeServer();
    const api = new SettingsApi(server.serverSettings);
    const error = await refusalOf(
      api.changeSettings({ checkpointTimeout: 99 })
    );
    expect(error).toMatchObject({
      code: 'invalid_setting',
      field: 'checkpointTimeout',
      params: { reason: 'must be less than or equal to 60' }
    });
  });

  it.each([
    [403, 'not_allowed'],
    [404, 'extension_missing'],
    [401, 'login_expired'],
    [502, 'bad_answer']
  ])('gives an answer %d that is not ours a code', async (status, code) => {
    const api = apiAnswering(() => new Response('<html>', { status }));
    expect((await refusalOf(api.settings())).code).toBe(code);
  });

  it('does not take a login page for settings', async () => {
    const api = apiAnswering(() => new Response('<html>', { status: 200 }));
    expect((await refusalOf(api.settings())).code).toBe('bad_answer');
  });

  it('says so when nothing answers', async () => {
    const server = new FakeServer();
    server.isDown = true;
    const api = new SettingsApi(server.serverSettings);
    expect((await refusalOf(api.settings())).code).toBe('unreachable');
  });
});
