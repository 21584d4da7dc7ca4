import type {
  ClineAskUseMcpServer,
  ClineSayTool,
  FollowUpData
} from '../../generated/wire';
import type { AskMessage } from '../../state/pendingask';
import { readJson } from '../../ui/texts/readjson';

/**
 * What a `tool` question is about; `null` if its text cannot be read.
 */
export function toolOf(ask: AskMessage): Partial<ClineSayTool> | null {
  return ask.ask === 'tool' ? readJson<ClineSayTool>(ask.text) : null;
}

/**
 * What a `followup` question says. An older one is the question itself.
 */
export function followUpOf(ask: AskMessage): FollowUpData {
  return readJson<FollowUpData>(ask.text) ?? { question: ask.text };
}

/**
 * What a `use_mcp_server` question is about; `null` if it is another one, or its
 * text cannot be read.
 */
export function mcpUseOf(
  ask: AskMessage
): Partial<ClineAskUseMcpServer> | null {
  return ask.ask === 'use_mcp_server'
    ? readJson<ClineAskUseMcpServer>(ask.text)
    : null;
}

/**
 * Which limit an `auto_approval_max_req_reached` question is about.
 */
export function limitOf(text: string | undefined): {
  readonly type?: string;
  readonly count?: string | number;
} {
  return readJson<{ type: string; count: string | number }>(text) ?? {};
}

/**
 * A command as it is run, and the folder it runs in if that is not the workspace.
 *
 * #### Notes
 * The server puts a comment that names the folder in front of such a command.
 */
export function commandOf(text: string): {
  readonly command: string;
  readonly folder: string | null;
} {
  const match = /^# in ([^\n]+)\n([^]*)$/.exec(text);
  return match
    ? {
        command: match[2] ?? '',
        // It says where also when it has to, to a command that begins with such a comment itself.
        folder: match[1] && match[1] !== '.' ? match[1] : null
      }
    : { command: text, folder: null };
}
