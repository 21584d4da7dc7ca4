import type { ClineMessage } from '../../../../generated/wire';
import { OpenedPanel } from '../../../__tests__/openedpanel';
import { PageLayout } from '../../../__tests__/pagelayout';
import { RestServer } from '../../../history/__tests__/restserver';
import {
  ask,
  created,
  settings,
  updated,
  waiting
} from '../../../asks/__tests__/openedask';

const USE = {
  serverName: 'db',
  type: 'use_mcp_tool',
  toolName: 'query',
  arguments: JSON.stringify({ sql: 'select 1\nfrom t', limit: 5 }),
  fingerprint: 'query-1'
};
const PICTURE = 'data:image/png;base64,AA';

describe('a call of an MCP server', () => {
  let page: OpenedPanel;
  let rest: RestServer;

  beforeEach(() => {
    rest = new RestServer();
    rest.answers.set('GET mcp/servers', () => ({
      servers: [
        { name: 'db', source: 'global', status: 'disconnected' },
        { name: 'db', source: 'project', status: 'connected' }
      ]
    }));
    page = new OpenedPanel({ layout: new PageLayout({ box: 600 }) });
  });

  afterEach(() => {
    page.dispose();
    rest.dispose();
  });

  const begin = async (
    use: Partial<ClineMessage> = {},
    ...more: ClineMessage[]
  ) => {
    page.begin(
      waiting(
        [
          { ts: 1, type: 'say', say: 'text', text: 'Ask the database.' },
          ask(2, 'use_mcp_server', USE, use),
          ...more
        ],
        { settings: settings({}) }
      )
    );
    await page.settle();
  };
  const row = () => page.find('[data-ts="2"]');
  const started = (change: Partial<ClineMessage>): ClineMessage => ({
    ts: 3,
    type: 'say',
    say: 'mcp_server_request_started',
    ...change
  });
  const answer = (text: string, images?: string[]): ClineMessage => ({
    ts: 4,
    type: 'say',
    say: 'mcp_server_response',
    text,
    ...(images && { images })
  });

  it('should say in one line what is asked, with its arguments to read', async () => {
    await begin();
    const bar = page.find('.jp-hdspAgent-ask');
    expect(bar?.textContent).toContain(
      'Use the tool “query” of the MCP server “db”?'
    );
    expect(page.find('.jp-hdspAgent-ask-preview')?.textContent).toBe(
      'sql: \n    select 1\n    from t\nlimit: 5'
    );
    expect(row()?.textContent).toContain('db: query');
  });

  it('should tell how far it is while it runs, and no longer', async () => {
    await begin({ isAnswered: true }, started({ partial: true }));
    const badge = () => row()?.querySelector('[data-state="running"]');
    expect(badge()?.textContent).toBe('Running…');
    page.publish(updated(started({ partial: true, text: '3/10 Copying' })));
    await page.settle();
    expect(badge()?.textContent).toBe('3/10 Copying');
    page.publish(updated(started({})), created(answer('Done.')));
    await page.settle();
    expect(badge()).toBeNull();
    // It is told at the call, not again by itself.
    expect(page.findAll('article')).toHaveLength(2);
  });

  it('should fold what was answered, and show pictures', async () => {
    await begin(
      { isAnswered: true },
      started({}),
      answer('{"rows":[1]}', [PICTURE])
    );
    const outputs = [...(row()?.querySelectorAll('button') ?? [])];
    const fold = outputs.find(({ textContent }) => textContent === 'Output');
    expect(fold?.getAttribute('aria-expanded')).toBe('false');
    page.act(() => fold?.click());
    expect(row()?.querySelector('[data-json="true"]')?.textContent).toBe(
      '{\n  "rows": [\n    1\n  ]\n}'
    );
    expect(row()?.querySelector('img')?.src).toBe(PICTURE);
  });

  it('should show an error unfolded, and only once', async () => {
    await begin({ isAnswered: true }, started({}), answer('Error: No table.'));
    expect(
      row()?.querySelector('.jp-hdspAgent-chat-failure')?.textContent
    ).toBe('No table.');
    expect(row()?.textContent).not.toContain('Output');
  });

  it('should be allowed for good, for this tool alone', async () => {
    await begin();
    await page.settle(() => page.button('Approve always…').click());
    await page.settle();
    const popup = page.find('.jp-hdspAgent-ask-popover');
    expect(popup?.textContent).toContain(
      'The agent uses the tool “query” of “db” without asking'
    );
    await page.settle(() => page.button('Allow and approve').click());
    await page.settle();
    expect(page.sent('toggleToolAlwaysAllow')).toMatchObject([
      {
        serverName: 'db',
        source: 'project',
        toolName: 'query',
        alwaysAllow: true,
        fingerprint: 'query-1'
      }
    ]);
    await page.settle(() => page.answer('toggleToolAlwaysAllow'));
    expect(page.sent('updateSettings')).toMatchObject([
      {
        updatedSettings: { autoApprovalEnabled: true, alwaysAllowMcp: true }
      }
    ]);
    expect(page.sent('askResponse')).toEqual([]);
    await page.settle(() => page.answer('updateSettings'));
    expect(page.sent('askResponse')).toMatchObject([
      { askResponse: 'yesButtonClicked', messageTs: 2 }
    ]);
  });

  it('should approve nothing where that could not be saved', async () => {
    await begin();
    await page.settle(() => page.button('Approve always…').click());
    await page.settle();
    await page.settle(() => page.button('Allow and approve').click());
    await page.settle();
    await page.settle(() =>
      page.answer('toggleToolAlwaysAllow', {
        code: 'nothing_known',
        message: 'Gone.'
      })
    );
    expect(page.find('.jp-hdspAgent-ask-popover')?.textContent).toContain(
      'Gone.'
    );
    expect(page.sent('askResponse')).toEqual([]);
  });

  it('should say that there are too many tools, and lead to them', async () => {
    page.begin(
      waiting([
        { ts: 1, type: 'say', say: 'text', text: 'Hello.' },
        {
          ts: 2,
          type: 'say',
          say: 'too_many_tools_warning',
          text: '{"toolCount":90,"serverCount":3,"threshold":60}'
        }
      ])
    );
    await page.settle();
    expect(row()?.textContent).toContain('90 MCP tools are on.');
    page.act(() => page.button('MCP servers').click());
    expect(page.openedSettings).toEqual(['mcpServers']);
  });
});
