import type {
  ClineAsk,
  ClineMessage,
  ClineSayTool,
  ExtensionMessage,
  ExtensionState,
  GlobalSettings
} from '../../../generated/wire';
import { APPROVED_CLASSES } from '../autoapproval/approvedclasses';

/** A question of the agent, as the server tells it. */
export function ask(
  ts: number,
  kind: ClineAsk,
  text: string | object = '',
  change: Partial<ClineMessage> = {}
): ClineMessage {
  return {
    ts,
    type: 'ask',
    ask: kind,
    text: typeof text === 'string' ? text : JSON.stringify(text),
    ...change
  };
}

/** The question whether a tool may be used. */
export function toolAsk(
  ts: number,
  tool: Partial<ClineSayTool>,
  change: Partial<ClineMessage> = {}
): ClineMessage {
  return ask(ts, 'tool', tool, change);
}

/** The conversation `t` on screen, waiting with these messages. */
export function waiting(
  clineMessages: ClineMessage[],
  change: ExtensionState = {}
): ExtensionState {
  return {
    currentTaskId: 't',
    currentTaskStatus: 'interactive',
    clineMessages,
    ...change
  };
}

/** A message that is different now. */
export function updated(clineMessage: ClineMessage): ExtensionMessage {
  return { type: 'messageUpdated', taskId: 't', clineMessage };
}

/** A message that has come. */
export function created(message: ClineMessage): ExtensionMessage {
  return { type: 'messageCreated', taskId: 't', message };
}

/** Settings with nothing in them but these. */
export function settings(change: Partial<GlobalSettings>): GlobalSettings {
  return {
    autoApprovalEnabled: false,
    allowedCommands: [],
    dismissedHints: [],
    ...Object.fromEntries(APPROVED_CLASSES.map(name => [name, false])),
    ...change
  } as GlobalSettings;
}
