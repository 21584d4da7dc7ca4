import { OpenedNotebook } from '../../../../notebook/__tests__/openednotebook';
import type { IPanelServices } from '../../../../ui/services';
import { RestServer, refusal } from '../../../history/__tests__/restserver';
import { READY, WrittenPanel } from '../../__tests__/openedcomposer';
import { databaseSuggestions } from '../databasesuggestions';

const PATH = 'shop.ipynb';
const LATE = 'old.late in engine';
const ENGINE = {
  name: 'engine',
  kind: 'sqlite',
  place: 'shop.db',
  tables: [
    { name: 'orders', isView: false },
    { schemaName: 'old', name: 'late', isView: true }
  ],
  isPartial: false,
  isWaiting: false
};

describe('databaseSuggestions', () => {
  let page: WrittenPanel;
  let rest: RestServer;
  let refused: string[];

  beforeEach(() => {
    page = new WrittenPanel();
    page.begin(READY);
    refused = [];
    rest = new RestServer();
    rest.answers.set('POST databases', () => ({
      path: PATH,
      answers: 'now',
      databases: [ENGINE]
    }));
    rest.answers.set('POST databases/schema', () => ({
      text: 'Database engine (sqlite)\nTable orders\n  id INTEGER'
    }));
  });

  afterEach(() => {
    page.dispose();
    rest.dispose();
  });

  const services = (path: string | null): IPanelServices =>
    ({
      ...page.panel.services,
      notebooks: {
        currentWidget:
          path === null
            ? null
            : { isDisposed: false, context: { path, localPath: path } }
      }
    }) as unknown as IPanelServices;

  const suggestions = async (path: string | null = PATH) => {
    const offered = await databaseSuggestions(services(path), refusal =>
      refused.push(refusal)
    );
    if (offered === 'later') {
      throw new Error('The kernel runs a cell.');
    }
    return offered;
  };

  const choose = async (index: number) => {
    const { choice } = (await suggestions())[index];
    await page.settle(() => choice.kind === 'run' && choice.run());
    return page.panel.services.state.draft(null).attachments;
  };

  it('should offer each database, and its tables', async () => {
    const offered = await suggestions();
    expect(offered.map(({ label, detail }) => [label, detail])).toEqual([
      ['All tables of engine', 'sqlite, shop.db'],
      ['orders', 'Table in engine'],
      ['old.late', 'View in engine']
    ]);
    expect(rest.of('POST databases')).toMatchObject([{ body: { path: PATH } }]);
  });

  it.each([
    [{ isWaiting: true }, 'Not connected yet. Choose it to connect'],
    [{ reason: 'no_answer' }, 'Cannot be read: it did not answer in time'],
    [{ reason: 'no_file' }, 'Cannot be read: its file is not there'],
    [{ reason: 'in_use' }, 'Cannot be read: it is in use'],
    [
      { reason: 'each_its_own' },
      'Cannot be read: each connection has a database of its own'
    ],
    [
      { reason: 'own_way' },
      'Cannot be read: your code opens its connections, and none is idle now'
    ],
    [
      { reason: 'failed', error: 'OperationalError: no such role' },
      'Cannot be read: OperationalError: no such role'
    ],
    [{ isPartial: true }, 'sqlite, shop.db. Not all of its tables are listed'],
    [
      { leftOut: 'in_transaction' },
      'sqlite, shop.db. Commit or roll back to see temporary tables'
    ],
    [
      { leftOut: 'own_connection' },
      'sqlite, shop.db. Temporary tables are not listed: only your own connection sees them'
    ]
  ])('should say of %j why tables are missing', async (parts, said) => {
    rest.answers.set('POST databases', () => ({
      path: PATH,
      answers: 'now',
      databases: [{ ...ENGINE, tables: [], ...parts }]
    }));
    expect((await suggestions()).map(({ detail }) => detail)).toEqual([said]);
  });

  it('should let the columns go along', async () => {
    expect(await choose(2)).toEqual([
      {
        kind: 'table',
        path: PATH,
        cellId: null,
        label: LATE,
        content: 'Database engine (sqlite)\nTable orders\n  id INTEGER'
      }
    ]);
    expect(rest.of('POST databases/schema')).toMatchObject([
      {
        body: {
          path: PATH,
          database: 'engine',
          table: { schemaName: 'old', name: 'late' }
        }
      }
    ]);
    expect(refused).toEqual([]);
  });

  it('should cut what is long after a line', async () => {
    const line = `  ${'c'.repeat(98)}`;
    const text = Array.from({ length: 300 }, () => line).join('\n');
    rest.answers.set('POST databases/schema', () => ({ text }));
    const [{ content }] = await choose(0);
    expect(content?.endsWith(`${line}\n…`)).toBe(true);
    expect(content?.length).toBeLessThan(20_010);
  });

  it('should say why it cannot', async () => {
    rest.answers.set('POST databases/schema', () =>
      refusal('nothing_known', 'The database is gone.')
    );
    expect(await choose(1)).toEqual([]);
    expect(refused).toEqual(['The database is gone.']);
  });

  it('should ask nothing without a notebook', async () => {
    expect(await suggestions(null)).toEqual([]);
    expect(rest.of('POST databases')).toEqual([]);
  });

  it('should ask again while the list is open until no cell runs', async () => {
    page.dispose();
    const opened = await OpenedNotebook.open();
    Object.defineProperty(opened.tracker, 'currentWidget', {
      get: () => opened.panel
    });
    page = new WrittenPanel({ notebooks: opened.tracker });
    page.begin(READY);
    rest.answers.set('POST databases', () => ({
      path: PATH,
      answers: 'later',
      databases: []
    }));
    const after = (milliseconds: number) =>
      page.during(async () => {
        await jest.advanceTimersByTimeAsync(milliseconds);
      });
    const asked = () => rest.of('POST databases').length;
    page.type('@orders');
    await after(400);
    expect(asked()).toBe(1);
    await after(2_000);
    expect(asked()).toBe(3);
    rest.answers.set('POST databases', () => ({
      path: PATH,
      answers: 'now',
      databases: [ENGINE]
    }));
    await after(5_000);
    expect(
      page.findAll('[role="option"]').map(({ textContent }) => textContent)
    ).toEqual(['orders Table in engine']);
    await after(60_000);
    expect(asked()).toBe(4);
    page.type('@orders and');
    page.type('@orders');
    await after(60_000);
    expect(asked()).toBe(5);
    opened.close();
  });
});
