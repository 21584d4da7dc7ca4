import type { ClineMessage } from '../../generated/wire';
import { readJson } from '../../ui/texts/readjson';
import { NO_ANSWER } from './rows/problemtexts';

/**
 * A row of the conversation: a message, and what belongs to it.
 */
export interface IChatRow {
  /**
   * The message the row is about; its identity is the row's.
   */
  readonly ts: number;

  /**
   * The messages shown within it: what a command wrote, how a cell failed.
   */
  readonly parts: readonly number[];
}

/**
 * The rows of a conversation, oldest first.
 *
 * #### Notes
 * Rows depend on the kinds of the messages and on what they are about, and
 * neither changes while a message grows. So rows are computed when messages
 * come or go, and those that are as they were keep their object. They are in
 * the order of the messages, but for checkpoints.
 */
export function rowsOf(
  order: readonly number[],
  message: (ts: number) => ClineMessage | undefined,
  before: readonly IChatRow[] = []
): readonly IChatRow[] {
  const known = new Map(before.map(row => [row.ts, row]));
  const found: { ts: number; parts: number[] }[] = [];
  const open = new OpenRows();
  for (const [index, ts] of order.entries()) {
    const said = message(ts);
    if (
      said === undefined ||
      isSilent(said) ||
      isRepeated(said, message(order[index + 1]))
    ) {
      continue;
    }
    const owner = open.ownerOf(said);
    if (owner) {
      owner.parts.push(ts);
      continue;
    }
    if (said.say === 'mcp_server_request_started') {
      // Where its row is not here, there is nothing to tell.
      continue;
    }
    const row = { ts, parts: [] };
    open.note(said, row);
    const last = found.at(-1);
    if (said.say === 'checkpoint_saved' && last && isAction(message(last.ts))) {
      // It is saved once the action is approved, and is from before it.
      found.splice(-1, 0, row);
    } else {
      found.push(row);
    }
  }
  const rows = found.map(row => {
    const same = known.get(row.ts);
    return same && equal(same.parts, row.parts) ? same : row;
  });
  return rows.length === before.length &&
    rows.every((row, index) => row === before[index])
    ? before
    : rows;
}

/**
 * The index of the row that shows a message, or of the first after it.
 */
export function rowAt(rows: readonly IChatRow[], ts: number): number {
  const own = rows.findIndex(row => row.ts === ts || row.parts.includes(ts));
  const next = own === -1 ? rows.findIndex(row => row.ts > ts) : own;
  return next === -1 ? rows.length - 1 : next;
}

interface IOpenRow {
  readonly ts: number;
  readonly parts: number[];
}

/**
 * The rows that later messages may belong to.
 */
class OpenRows {
  /**
   * The row a message is shown in, unless it has one of its own.
   */
  ownerOf(message: ClineMessage): IOpenRow | undefined {
    const kind = message.ask ?? message.say;
    const cell = cellOf(message);
    switch (kind) {
      case 'command_output':
        return cell ? this._cells.get(cell) : this._command;
      case 'error':
        return cell ? this._cells.get(cell) : undefined;
      case 'mcp_server_request_started':
      case 'mcp_server_response':
        return this._server;
      case 'codebase_search_result':
        return this._searches.get(soughtBy(message) ?? '');
      default:
        return undefined;
    }
  }

  /**
   * Take note of a row that was begun.
   */
  note(message: ClineMessage, row: IOpenRow): void {
    const cell = cellOf(message);
    switch (message.ask ?? message.say) {
      case 'command':
        this._command = row;
        break;
      case 'cell_executed':
        if (cell) {
          this._cells.set(cell, row);
        }
        break;
      case 'use_mcp_server':
        this._server = row;
        break;
      case 'tool': {
        const sought = soughtBy(message);
        if (sought !== null) {
          this._searches.set(sought, row);
        }
        break;
      }
      default:
        break;
    }
  }

  private readonly _cells = new Map<string, IOpenRow>();
  private readonly _searches = new Map<string, IOpenRow>();
  private _command: IOpenRow | undefined;
  private _server: IOpenRow | undefined;
}

/**
 * Messages that say nothing a person would miss.
 */
const SILENT: ReadonlySet<string> = new Set([
  'api_req_finished',
  'api_req_retried',
  'api_req_deleted',
  'resume_task',
  'resume_completed_task',
  'browser_session_status'
]);

function isSilent(message: ClineMessage): boolean {
  const kind = message.ask ?? message.say ?? '';
  // Asked after a result was told, this only waits for what comes next.
  const isEnd = message.ask === 'completion_result' && !message.text;
  // Kept beside another one, for a way back to just before a message.
  const isHidden = message.checkpoint?.suppressMessage === true;
  // Asked while a command runs, this is answered at the command.
  return isEnd ||
    isHidden ||
    (message.ask === 'command_output' && !message.text)
    ? true
    : SILENT.has(kind);
}

function isAction(message: ClineMessage | undefined): boolean {
  return (
    message?.ask === 'tool' ||
    message?.ask === 'command' ||
    message?.ask === 'use_mcp_server'
  );
}

/**
 * That a model said nothing is told by the question what to do about it too.
 */
function isRepeated(
  { say, text }: ClineMessage,
  next: ClineMessage | undefined
): boolean {
  const kind = next?.ask ?? next?.say;
  return (
    say === 'error' &&
    text === NO_ANSWER &&
    (kind === 'api_req_failed' || kind === 'api_req_retry_delayed')
  );
}

/**
 * What a search is for; `null` if a message is about none. Several go on at the
 * same time, and nothing else tells which of them found what.
 */
function soughtBy({ text }: ClineMessage): string | null {
  // Most tools are others, and what they carry may be long.
  if (!text?.startsWith('{"tool":"codebaseSearch"')) {
    return null;
  }
  const said = readJson<{ query?: string; content?: { query?: string } }>(text);
  return said?.query ?? said?.content?.query ?? null;
}

function cellOf({ notebook }: ClineMessage): string | null {
  return notebook ? `${notebook.path}\n${notebook.cellId ?? ''}` : null;
}

function equal(one: readonly number[], other: readonly number[]): boolean {
  return (
    one.length === other.length && one.every((ts, index) => ts === other[index])
  );
}
