import type { JSONObject } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

import type { McpServersView } from '../../../generated/rest';
import type { McpServer } from '../../../generated/wire';
import { McpApi } from '../../../rest/mcpapi';
import { Refusal } from '../../__tests__/fakeserver';
import { OpenedSettings } from '../../__tests__/openedsettings';
import { followChannel } from '../../data/followchannel';
import { McpServersData } from '../../data/mcpserversdata';

const FILES: McpServer = {
  name: 'files',
  config: '{}',
  status: 'connected',
  disabled: false,
  timeout: 60,
  source: 'global',
  address: 'uvx mcp-server-files .',
  needsApproval: false,
  forbidden: false,
  unusable: false,
  toolCount: 2,
  tools: [
    {
      name: 'read',
      description: 'Reads a file.',
      alwaysAllow: false,
      enabledForPrompt: true,
      fingerprint: 'read-1',
      changed: false,
      readOnly: true
    },
    {
      name: 'write',
      description: 'Writes a file.',
      alwaysAllow: true,
      enabledForPrompt: true,
      fingerprint: 'write-1',
      changed: true,
      destructive: true
    }
  ],
  resources: [{ uri: 'file:///a', name: 'a.txt' }]
};

describe('the section about MCP servers', () => {
  let page: OpenedSettings;
  let view: McpServersView;
  let sent: JSONObject[];

  const show = (...servers: Partial<McpServer>[]) => {
    view = {
      ...view,
      servers: servers.map(server => ({ ...FILES, ...server }))
    };
  };

  beforeEach(() => {
    sent = [];
    view = {
      enabled: true,
      servers: [],
      files: [],
      folderTrusted: true,
      operatorLimits: false,
      toolCount: 0,
      offeredAtMost: 60
    };
    const client = {
      request: (request: object) => {
        sent.push(request as JSONObject);
        return Promise.resolve(null);
      }
    };
    page = new OpenedSettings(server => ({
      mcpServers: new McpServersData(
        new McpApi(server.serverSettings),
        client,
        'https://lab.example/hdsp-agent/mcp-login'
      )
    }));
    page.server.others.set('GET mcp/servers', () => view);
    page.server.others.set('POST mcp/servers/connect', () => view);
  });

  afterEach(() => page.close());

  const open = () => page.open('mcpServers');
  const item = (name: string) => page.get(`[data-server="${name}"]`);
  const press = (label: string) => page.press(label);
  const check = (label: string) =>
    page.do(() => page.get(`input[aria-label="${label}"]`).click());

  it('should show how each server is', async () => {
    show(
      {},
      { name: 'slow', status: 'connecting' },
      { name: 'broken', status: 'disconnected', error: 'It ended with 1.' },
      { name: 'off', disabled: true },
      { name: 'far', status: 'disconnected', authStatus: 'unauthenticated' },
      { name: 'kept', forbidden: true },
      { name: 'odd', unusable: true, error: 'It has no command.' }
    );
    await open();
    const badge = (name: string) =>
      item(name).querySelector('.jp-hdspSettings-badge')?.textContent;
    expect(badge('files')).toBe('Connected');
    expect(badge('slow')).toBe('Connecting…');
    expect(badge('broken')).toBe('Not connected');
    expect(item('broken').textContent).toContain('It ended with 1.');
    expect(badge('off')).toBe('Off');
    expect(badge('far')).toBe('Sign-in needed');
    expect(badge('kept')).toBe('Not allowed by your administrator');
    expect(badge('odd')).toBe('Cannot be used');
    // What nobody may use, or can, has no switch.
    expect(item('kept').querySelector('[role="switch"]')).toBeNull();
    expect(item('odd').querySelector('[role="switch"]')).toBeNull();
  });

  it('should switch servers, and restart and remove them', async () => {
    show({}, { name: 'db', source: 'project', disabled: true });
    await open();
    await check('Use the server files');
    await check('Use the server db');
    await press('Restart files');
    page.answer = null;
    await press('Remove… files');
    page.answer = 'yes';
    await press('Remove… files');
    expect(sent).toEqual([
      {
        type: 'toggleMcpServer',
        serverName: 'files',
        source: 'global',
        disabled: true
      },
      {
        type: 'toggleMcpServer',
        serverName: 'db',
        source: 'project',
        disabled: false
      },
      { type: 'restartMcpServer', text: 'files', source: 'global' },
      { type: 'deleteMcpServer', serverName: 'files', source: 'global' }
    ]);
  });

  it('should say what a folder brings that nobody has switched on', async () => {
    show({
      name: 'db',
      source: 'project',
      disabled: true,
      needsApproval: true
    });
    view = {
      ...view,
      folderTrusted: false,
      files: [
        {
          source: 'global',
          path: '/h/mcp.json',
          exists: true,
          error: 'No JSON.'
        }
      ]
    };
    await open();
    expect(item('db').textContent).toContain('Turn it on only if you trust it');
    expect(page.node.textContent).toContain(
      'Servers that this folder brings are used once you trust it.'
    );
    expect(page.node.textContent).toContain(
      '/h/mcp.json cannot be read: No JSON.'
    );
  });

  it('should let one choose tool by tool', async () => {
    show({});
    await open();
    await press('2 tools of files');
    expect(item('files').textContent).toContain('Says it only reads');
    expect(item('files').textContent).toContain('This tool changed since');
    await check('Offer the tool write to the agent');
    await check('Without asking: read');
    expect(sent).toEqual([
      {
        type: 'toggleToolEnabledForPrompt',
        serverName: 'files',
        source: 'global',
        toolName: 'write',
        isEnabled: false
      },
      {
        type: 'toggleToolAlwaysAllow',
        serverName: 'files',
        source: 'global',
        toolName: 'read',
        alwaysAllow: true,
        fingerprint: 'read-1'
      }
    ]);
    // It is allowed, and yet nothing is done without asking.
    expect(item('files').textContent).toContain('The agent still asks');
  });

  it('should take only a time limit that there can be', async () => {
    show({});
    await open();
    await press('2 tools of files');
    const input = 'input[type="number"]';
    await page.type(input, '0');
    expect(page.get(input).getAttribute('aria-invalid')).toBe('true');
    expect(sent).toEqual([]);
    await page.type(input, '90');
    expect(sent).toEqual([
      {
        type: 'updateMcpTimeout',
        serverName: 'files',
        source: 'global',
        timeout: 90
      }
    ]);
  });

  it('should show what a server wrote', async () => {
    show({});
    page.server.others.set('GET mcp/servers/files/log', () => ({
      lines: [{ ts: 1_700_000_000_000, origin: 'server', text: 'Listening.' }],
      dropped: 3
    }));
    await open();
    await press('Log of files');
    expect(item('files').querySelector('pre')?.textContent).toContain(
      'Listening.'
    );
    expect(item('files').textContent).toContain('3 older lines are left out.');
  });

  it('should lead to the page on which one signs in, and to no other', async () => {
    show({ name: 'far', authStatus: 'unauthenticated' });
    let url = 'javascript:alert(1)';
    page.server.others.set('POST mcp/servers/far/login', () => ({ url }));
    await open();
    await press('Sign in… far');
    expect(item('far').querySelector('a')).toBeNull();
    url = 'https://far.example/login';
    await press('Sign in… far');
    const link = item('far').querySelector('a');
    expect(link?.href).toBe(url);
    expect(link?.rel).toContain('noopener');
    expect(document.activeElement).toBe(link);
    show({ name: 'far', authStatus: 'awaiting_auth' });
    await page.do(() => page.model.mcpServers?.refresh());
    expect(item('far').querySelector('a')).not.toBeNull();
    // Refused, it can be begun again; the page leads nowhere any more.
    show({ name: 'far', authStatus: 'unauthenticated' });
    await page.do(() => page.model.mcpServers?.refresh());
    expect(item('far').querySelector('a')).toBeNull();
    show({ name: 'far', authStatus: 'authenticated' });
    await page.do(() => page.model.mcpServers?.refresh());
    page.server.others.set('DELETE mcp/servers/far/login', () => ({
      done: true
    }));
    await press('Sign out of far');
    expect(page.server.requests).toContain('DELETE mcp/servers/far/login');
  });

  it('should add what is pasted, and replace only what one is sure of', async () => {
    const bodies: JSONObject[] = [];
    page.server.others.set('POST mcp/servers', body => {
      bodies.push(body);
      return body.replace
        ? { added: [], replaced: ['db'], secrets: [], servers: [] }
        : new Refusal('conflict', 'There is one.');
    });
    await open();
    expect(page.node.textContent).toContain('There are no servers yet.');
    await press('Add a server…');
    const text = '{"mcpServers": {"db": {"command": "x"}}}';
    await page.type('form textarea', text);
    page.answer = null;
    await press('Save');
    expect(bodies).toEqual([
      { text, replace: false, keepSecretsInFile: false }
    ]);
    expect(page.get('[role="alert"]').textContent).toContain('There is one.');
    page.answer = 'yes';
    await press('Save');
    expect(bodies.at(-1)).toMatchObject({ text, replace: true });
    expect(page.all('form')).toEqual([]);
    expect(document.activeElement?.textContent).toBe('Add a server…');
  });

  it('should keep keys in the file only if one says so', async () => {
    const bodies: JSONObject[] = [];
    page.server.others.set('POST mcp/servers', body => {
      bodies.push(body);
      return body.keepSecretsInFile
        ? { added: ['db'], replaced: [], secrets: [], servers: [] }
        : new Refusal('secret_storage_unavailable', 'No keyring.');
    });
    await open();
    await press('Add a server…');
    await page.type('form textarea', '{"mcpServers": {}}');
    await press('Save');
    await press('Save');
    expect(bodies).toHaveLength(2);
    await page.do(() => page.get('form [type="checkbox"]').click());
    await press('Save');
    expect(bodies.at(-1)).toMatchObject({ keepSecretsInFile: true });
    expect(page.all('form')).toEqual([]);
  });

  it('should follow what the servers become', async () => {
    const messages = new Signal<object, { type: string }>({});
    followChannel(messages, page.model);
    show({ status: 'connecting' });
    await open();
    show({ status: 'connected' });
    const mcpServers = view.servers.map(({ tools: _, ...server }) => server);
    await page.do(() =>
      messages.emit({ type: 'mcpServers', ...{ mcpServers } })
    );
    expect(item('files').textContent).toContain('Connected');
    await press('2 tools of files');
    expect(item('files').textContent).toContain('Reads a file.');
  });
});
