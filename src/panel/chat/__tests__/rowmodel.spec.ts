import type { ClineMessage } from '../../../generated/wire';
import { rowsOf } from '../rowmodel';

const cell = { path: 'a.ipynb', cellId: 'c' };

function rows(messages: readonly ClineMessage[]) {
  const byTs = new Map(messages.map(message => [message.ts, message]));
  return rowsOf([...byTs.keys()], ts => byTs.get(ts));
}

describe('rowsOf()', () => {
  it('should put what a command wrote with the command', () => {
    const found = rows([
      { ts: 1, type: 'ask', ask: 'command', text: 'ls' },
      { ts: 2, type: 'say', say: 'command_output', text: 'a' },
      { ts: 3, type: 'say', say: 'text', text: 'So.' },
      { ts: 4, type: 'say', say: 'command_output', text: 'late' }
    ]);
    expect(found).toEqual([
      { ts: 1, parts: [2, 4] },
      { ts: 3, parts: [] }
    ]);
  });

  it('should put what a search found with the search, of several with its own', () => {
    const search = (ts: number, query: string): ClineMessage => ({
      ts,
      type: 'ask',
      ask: 'tool',
      text: JSON.stringify({ tool: 'codebaseSearch', query })
    });
    const found = (ts: number, query: string): ClineMessage => ({
      ts,
      type: 'say',
      say: 'codebase_search_result',
      text: JSON.stringify({
        tool: 'codebaseSearch',
        content: { query, results: [] }
      })
    });
    expect(
      rows([
        search(1, 'rents'),
        search(2, 'flats'),
        found(3, 'flats'),
        found(4, 'rents'),
        found(5, 'houses')
      ])
    ).toEqual([
      { ts: 1, parts: [4] },
      { ts: 2, parts: [3] },
      { ts: 5, parts: [] }
    ]);
  });

  it('should put what a cell wrote with the cell, not with a command', () => {
    const found = rows([
      { ts: 1, type: 'ask', ask: 'command', text: 'ls' },
      { ts: 2, type: 'say', say: 'cell_executed', text: '{}', notebook: cell },
      { ts: 3, type: 'say', say: 'command_output', text: 'x', notebook: cell },
      { ts: 4, type: 'say', say: 'error', text: 'ValueError', notebook: cell }
    ]);
    expect(found).toEqual([
      { ts: 1, parts: [] },
      { ts: 2, parts: [3, 4] }
    ]);
  });

  it('should show output and errors that belong to nothing by themselves', () => {
    const found = rows([
      { ts: 1, type: 'say', say: 'command_output', text: 'x' },
      { ts: 2, type: 'say', say: 'error', text: 'x' },
      { ts: 3, type: 'say', say: 'mcp_server_response', text: 'x' }
    ]);
    expect(found.map(({ ts }) => ts)).toEqual([1, 2, 3]);
  });

  it('should put a checkpoint before the action it is from before', () => {
    const saved = { type: 'say', say: 'checkpoint_saved', text: 'c' } as const;
    const found = rows([
      { ts: 1, type: 'ask', ask: 'command', text: 'ls' },
      { ts: 2, ...saved },
      { ts: 3, type: 'say', say: 'command_output', text: 'a' },
      { ts: 4, type: 'say', say: 'text', text: 'So.' },
      { ts: 5, ...saved },
      { ts: 6, type: 'ask', ask: 'tool', text: '{}' },
      { ts: 7, ...saved }
    ]);
    expect(found).toEqual(
      [2, 1, 4, 5, 7, 6].map(ts => ({ ts, parts: ts === 1 ? [3] : [] }))
    );
  });

  it('should leave out what says nothing', () => {
    const found = rows([
      { ts: 1, type: 'say', say: 'completion_result', text: 'All done' },
      { ts: 2, type: 'ask', ask: 'completion_result', text: '' },
      { ts: 3, type: 'ask', ask: 'resume_task' },
      { ts: 4, type: 'say', say: 'api_req_finished' }
    ]);
    expect(found.map(({ ts }) => ts)).toEqual([1]);
  });

  it('should keep the rows that are as they were', () => {
    const messages: ClineMessage[] = [
      { ts: 1, type: 'say', say: 'text', text: 'a' },
      { ts: 2, type: 'ask', ask: 'command', text: 'ls' },
      { ts: 3, type: 'say', say: 'command_output', text: 'a' }
    ];
    const get = (ts: number) => messages[ts - 1];
    const before = rowsOf([1, 2], get);
    const after = rowsOf([1, 2, 3], get, before);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    expect(rowsOf([1, 2, 3], get, after)).toBe(after);
  });
});
