import { Clipboard } from '@jupyterlab/apputils';
import { Signal } from '@lumino/signaling';

import type { McpServerTest, McpServerView } from '../../../generated/rest';
import { McpApi } from '../../../rest/mcpapi';
import { OtherAgentsData } from '../../../rest/otheragentsdata';
import { Refusal } from '../../__tests__/fakeserver';
import { OpenedSettings } from '../../__tests__/openedsettings';
import { followChannel } from '../../data/followchannel';

const ORIGIN = 'https://lab.example';

const VIEW: McpServerView = {
  enabled: true,
  fixed: false,
  url: `${ORIGIN}/hdsp-agent/mcp`,
  folder: '/work',
  hub: false,
  tokenVariable: 'HDSP_AGENT_TOKEN',
  programs: [
    {
      id: 'claude-code',
      name: 'Claude Code',
      ways: [
        {
          kind: 'local',
          snippets: [
            {
              kind: 'command',
              language: 'shell',
              text: 'claude mcp add notebooks -- hdsp-agent mcp'
            },
            {
              kind: 'file',
              language: 'json',
              file: '.mcp.json',
              text: '{"mcpServers": {}}'
            }
          ]
        },
        {
          kind: 'http',
          snippets: [
            { kind: 'command', language: 'shell', text: 'claude mcp add http' }
          ]
        }
      ]
    },
    {
      id: 'codex',
      name: 'Codex',
      ways: [
        {
          kind: 'local',
          snippets: [
            {
              kind: 'file',
              language: 'toml',
              file: '~/.codex/config.toml',
              text: '[mcp_servers.notebooks]'
            }
          ]
        }
      ]
    }
  ],
  agents: []
};

const CLAUDE: McpServerView['agents'][number] = {
  key: 'k1',
  name: 'Claude Code',
  version: '2.1',
  since: 1_700_000_000_000,
  taskId: 't1',
  notebook: 'data/analysis.ipynb',
  activity: 'working',
  approvals: 'ask',
  canAsk: false,
  mayAsk: false
};

describe('the section about other agents', () => {
  let page: OpenedSettings;
  let view: McpServerView;
  let asked: unknown[];

  beforeEach(() => {
    view = VIEW;
    asked = [];
    page = new OpenedSettings(server => ({
      otherAgents: new OtherAgentsData(
        new McpApi(server.serverSettings),
        ORIGIN
      )
    }));
    const { others } = page.server;
    others.set('GET mcp/server', () => view);
    others.set('PUT mcp/server', ({ enabled }) => {
      view = { ...view, enabled: enabled === true };
      return view;
    });
    others.set('PATCH mcp/server/agents/k1', ({ approvals, mayAsk }) => {
      asked.push(approvals ?? mayAsk);
      if (typeof mayAsk === 'boolean') {
        view = { ...view, agents: [{ ...CLAUDE, canAsk: true, mayAsk }] };
      }
      return view;
    });
    others.set('DELETE mcp/server/agents/k1', () => {
      view = { ...view, agents: [] };
      return view;
    });
  });

  afterEach(() => page.close());

  const open = () => page.open('otherAgents');
  const texts = () => page.all('pre').map(({ textContent }) => textContent);
  const lever = () =>
    page.get<HTMLInputElement>('.jp-hdspSettings-agents [role="switch"]');

  it('should offer nothing but the switch until it is on', async () => {
    view = { ...VIEW, enabled: false };
    await open();
    expect(lever().checked).toBe(false);
    expect(lever().labels?.[0].textContent).toBe(
      'Let other agents work in your notebooks'
    );
    expect(texts()).toEqual([]);
    await page.do(() => lever().click());
    expect(lever().checked).toBe(true);
    expect(texts()[0]).toBe('claude mcp add notebooks -- hdsp-agent mcp');
  });

  it('should say so where the administrator decided', async () => {
    view = { ...VIEW, enabled: false, fixed: true };
    await open();
    expect(lever().disabled).toBe(true);
    expect(page.node.textContent).toContain('Set by your administrator');
  });

  it('should show what to paste for each program, and copy exactly that', async () => {
    const copied: unknown[] = [];
    const spy = jest
      .spyOn(Clipboard, 'copyToSystem')
      .mockImplementation(text => {
        copied.push(text);
      });
    await open();
    expect(page.server.requests).toContain('GET mcp/server');
    await page.press('Copy: Command for the terminal');
    expect(page.node.textContent).toContain('Run this in a terminal:');
    expect(page.node.textContent).toContain(
      "Add this to .mcp.json in your project's folder:"
    );
    expect(page.node.textContent).toContain('start Claude Code in /work');
    await page.type('.jp-hdspSettings-agents select', 'codex');
    expect(page.node.textContent).toContain(
      'Add this to ~/.codex/config.toml:'
    );
    await page.press('Copy: ~/.codex/config.toml');
    expect(copied).toEqual([
      'claude mcp add notebooks -- hdsp-agent mcp',
      '[mcp_servers.notebooks]'
    ]);
    spy.mockRestore();
  });

  it('should say where the token is from that another machine needs', async () => {
    await open();
    const choose = (kind: string) =>
      page.do(() =>
        page
          .all('[role="radiogroup"] label')
          .find(({ textContent }) => textContent === kind)
          ?.click()
      );
    await choose('On another machine');
    expect(texts()).toEqual(['claude mcp add http']);
    expect(page.node.textContent).toContain('HDSP_AGENT_TOKEN');
    expect(page.node.textContent).toContain('jupyter server list');
    view = {
      ...VIEW,
      hub: true,
      hubTokenUrl: 'https://hub.example/token',
      hubScope: 'access:servers!user=ada'
    };
    await page.do(() => page.model.otherAgents?.refresh());
    expect(page.get<HTMLAnchorElement>('.jp-hdspSettings-agents a').href).toBe(
      'https://hub.example/token'
    );
    expect(page.node.textContent).toContain('access:servers!user=ada');
  });

  it('should tell step by step what a test found', async () => {
    const steps: McpServerTest['steps'] = [
      { step: 'signedIn', ok: true, message: 'In.' },
      { step: 'reached', ok: false, message: 'A proxy answers instead.' }
    ];
    let test: McpServerTest = { ok: false, steps };
    page.server.others.set('POST mcp/server/test', () => test);
    await open();
    await page.press('Test the connection');
    const result = () => page.get('.jp-hdspSettings-test [role="status"]');
    expect(result().textContent).toContain('does not work yet');
    expect(result().textContent).toContain('A proxy answers instead.');
    test = {
      ok: true,
      steps: [{ step: 'tools', ok: true, message: 'Tools.' }],
      tools: 12
    };
    await page.press('Test the connection');
    expect(result().textContent).toContain('The connection works.');
    expect(result().textContent).toContain('It offers 12 tools.');
  });

  it('should list who is connected, and follow what changes', async () => {
    const messages = new Signal<object, { type: string }>({});
    followChannel(messages, page.model);
    await open();
    expect(page.node.textContent).toContain('No agent is connected.');
    view = { ...VIEW, agents: [CLAUDE] };
    await page.do(() => messages.emit({ type: 'externalAgentsUpdated' }));
    const item = page.get('[data-agent="k1"]');
    expect(item.textContent).toContain('Claude Code');
    expect(item.textContent).toContain('2.1');
    expect(item.textContent).toContain('Working on analysis.ipynb');
    view = { ...VIEW, agents: [{ ...CLAUDE, activity: 'waiting' }] };
    await page.do(() => messages.emit({ type: 'externalAgentsUpdated' }));
    expect(item.textContent).toContain('Waiting for you');
  });

  it('should disconnect one only when one is sure, and keep the focus', async () => {
    view = { ...VIEW, agents: [CLAUDE] };
    await open();
    page.answer = null;
    await page.press('Disconnect… Claude Code');
    expect(page.all('[data-agent]')).toHaveLength(1);
    page.answer = 'yes';
    await page.press('Disconnect… Claude Code');
    expect(page.asked).toEqual([
      'Disconnect Claude Code?',
      'Disconnect Claude Code?'
    ]);
    expect(page.all('[data-agent]')).toHaveLength(0);
    expect(document.activeElement?.textContent).toBe('Connected now');
  });

  it('should let one choose what an agent does without asking', async () => {
    view = { ...VIEW, agents: [{ ...CLAUDE, approvals: 'ask' }] };
    await open();
    const select = '[data-agent="k1"] select';
    expect(page.get<HTMLSelectElement>(select).value).toBe('ask');
    await page.type(select, 'edit');
    expect(asked).toEqual(['edit']);
    expect(page.get(`${select} ~ p`).textContent).toContain('Asks before');
  });

  it('should let an agent ask in its own window only when one is sure', async () => {
    view = { ...VIEW, agents: [CLAUDE] };
    await open();
    expect(page.all('[data-agent="k1"] [role="switch"]')).toHaveLength(0);
    view = { ...VIEW, agents: [{ ...CLAUDE, canAsk: true }] };
    await page.do(() => page.model.otherAgents?.refresh());
    const ownWindow = () =>
      page.get<HTMLInputElement>('[data-agent="k1"] [role="switch"]');
    expect(ownWindow().labels?.[0].textContent).toBe(
      'May also ask in its own window'
    );
    page.answer = null;
    await page.do(() => ownWindow().click());
    expect(page.asked).toEqual(['Let Claude Code ask in its own window?']);
    expect([asked, ownWindow().checked]).toEqual([[], false]);
    page.answer = 'yes';
    await page.do(() => ownWindow().click());
    expect([asked, ownWindow().checked]).toEqual([[true], true]);
    await page.do(() => ownWindow().click());
    expect([asked, ownWindow().checked]).toEqual([[true, false], false]);
    expect(page.asked).toHaveLength(2);
  });

  it('should say why something was refused', async () => {
    page.server.others.set(
      'PUT mcp/server',
      () => new Refusal('odd', 'Not here.')
    );
    await open();
    await page.do(() => lever().click());
    expect(page.get('[role="alert"]').textContent).toBe('Not here.');
    expect(lever().checked).toBe(true);
  });
});
