import type { TranslationBundle } from '@jupyterlab/translation';

import type { DiffStats, ModeConfig, Rename } from '../../generated/wire';
import type { AskMessage } from '../../state/pendingask';
import type { AgentStore } from '../../state/store';
import { argumentLines } from '../../ui/texts/toolarguments';
import { plainName } from '../../ui/texts/visibletext';
import type { AskFlag } from '../../ui/texts/riskflags';
import { flagsOn } from '../../ui/texts/riskflags';
import { limitText, mistakesText } from './limittexts';
import { commandOf, followUpOf, mcpUseOf } from './askcontent';
import { describeTool } from './toolasktexts';

/**
 * A question in words: what will be done and where, and what the buttons say.
 */
export interface IAskTexts {
  /**
   * One sentence.
   */
  readonly sentence: string;

  /**
   * What is read aloud, if not the sentence.
   */
  readonly announcement?: string;

  /**
   * What will run or be fetched. All of it stands in the conversation.
   */
  readonly code?: string;

  readonly stats?: DiffStats;
  readonly flags?: readonly AskFlag[];

  /**
   * What the button says that lets the agent go on, if there is one.
   */
  readonly approve?: string;

  /**
   * What the button says that does not let it, if there is one.
   */
  readonly deny?: string;

  /**
   * Whether one may as well begin another conversation.
   */
  readonly canLeave?: boolean;

  /**
   * Whether that helps more than to try the same again.
   */
  readonly shouldLeave?: boolean;

  /**
   * Whether there are rules that would answer questions like this one.
   */
  readonly hasRules?: boolean;

  /**
   * Whether what is proposed can be edited before it is approved.
   */
  readonly canEdit?: boolean;

  /**
   * What the button says that also lets the agent run what it changes, if there is one.
   */
  readonly approveAndRun?: string;

  /**
   * What else one can do.
   */
  readonly hint?: string;
}

/**
 * What one must know besides a question to put it into words.
 */
export interface IAskSituation {
  /**
   * The modes people have made, which have names of their own.
   */
  readonly modes?: readonly ModeConfig[];

  /**
   * The notebook of the conversation, which needs no naming.
   */
  readonly notebook?: string;

  /**
   * Whether it is asked because the person went back.
   */
  readonly wentBack?: boolean;

  /**
   * The name of the other agent that asks; none for our own.
   */
  readonly agent?: string;

  /**
   * What was renamed, perhaps since it was asked.
   */
  readonly renames?: readonly Rename[];
}

/**
 * The situation as the server tells it.
 */
export function situationOf({
  state
}: Pick<AgentStore, 'state'>): IAskSituation {
  return {
    modes: state?.customModes,
    notebook: state?.currentTaskItem?.notebook?.path,
    agent: state?.currentTaskItem?.externalAgent,
    renames: state?.currentTaskItem?.renames
  };
}

/**
 * Put a question into words.
 */
export function describeAsk(
  ask: AskMessage,
  trans: TranslationBundle,
  situation: IAskSituation = {}
): IAskTexts {
  switch (ask.ask) {
    case 'tool':
      return describeTool(ask, trans, situation);
    case 'command':
      return describeCommand(ask, trans);
    case 'use_mcp_server':
      return describeMcpUse(ask, trans);
    case 'followup':
      return describeFollowUp(ask, trans);
    default:
      return describeHalt(ask, trans, situation);
  }
}

function describeFollowUp(
  ask: AskMessage,
  trans: TranslationBundle
): IAskTexts {
  const { question } = followUpOf(ask);
  return {
    sentence: trans.__('The agent has a question for you.'),
    ...(question
      ? { announcement: trans.__('The agent asks: %1', question) }
      : {})
  };
}

function describeCommand(ask: AskMessage, trans: TranslationBundle): IAskTexts {
  const { command, folder } = commandOf(ask.text ?? '');
  return {
    sentence:
      folder === null
        ? trans.__('Run this command?')
        : trans.__('Run this command in %1?', plainName(folder)),
    code: command,
    flags: flagsOn(ask),
    approve: trans.__('Run'),
    deny: trans.__('Deny'),
    hasRules: true,
    canEdit: true
  };
}

function describeMcpUse(ask: AskMessage, trans: TranslationBundle): IAskTexts {
  const use = mcpUseOf(ask);
  const buttons = {
    approve: trans.__('Approve'),
    deny: trans.__('Deny'),
    flags: flagsOn(ask),
    hasRules: true
  };
  if (use?.type === 'access_mcp_resource') {
    return use.serverName === 'web'
      ? {
          ...buttons,
          sentence: trans.__('Fetch this address?'),
          code: use.uri ?? '',
          flags: flagsOn(ask, ['uses_network']),
          approve: trans.__('Fetch')
        }
      : {
          ...buttons,
          sentence: trans.__(
            'Read this from the MCP server “%1”?',
            plainName(use.serverName ?? '')
          ),
          code: use.uri ?? ''
        };
  }
  return {
    ...buttons,
    sentence: trans.__(
      'Use the tool “%1” of the MCP server “%2”?',
      plainName(use?.toolName ?? ''),
      plainName(use?.serverName ?? '')
    ),
    ...(use?.arguments ? { code: argumentLines(use.arguments) } : {})
  };
}

function describeHalt(
  ask: AskMessage,
  trans: TranslationBundle,
  { agent, wentBack = false }: IAskSituation
): IAskTexts {
  switch (ask.ask) {
    case 'completion_result':
    case 'resume_completed_task':
      return {
        sentence: trans.__('The agent is done.'),
        canLeave: true
      };
    case 'resume_task':
      return {
        sentence: wentBack
          ? trans.__('Restored to this point.')
          : ask.stoppedBy === 'person'
            ? trans.__('You stopped this.')
            : ask.stoppedBy === 'administrator'
              ? trans.__('An administrator stopped this task.')
              : trans.__('This was interrupted.'),
        // How another agent goes on, one says to itself.
        ...(agent === undefined && {
          approve: trans.__('Continue'),
          canLeave: true
        })
      };
    case 'api_req_failed':
      return {
        // Why, its row says.
        sentence: trans.__('The model gave no answer.'),
        approve: trans.__('Retry'),
        canLeave: true,
        shouldLeave: ask.modelFailure?.kind === 'overflow'
      };
    case 'mistake_limit_reached':
      return {
        sentence: mistakesText(ask, trans),
        approve: trans.__('Continue anyway'),
        deny: trans.__('Stop')
      };
    case 'auto_approval_max_req_reached':
      return describeLimit(ask, trans);
    default:
      // Of a newer server. Its row says what it asks.
      return {
        sentence:
          agent === undefined
            ? trans.__('The agent needs your approval.')
            : trans.__('%1 needs your approval.', plainName(agent)),
        approve: trans.__('Approve'),
        deny: trans.__('Deny')
      };
  }
}

function describeLimit(ask: AskMessage, trans: TranslationBundle): IAskTexts {
  return {
    sentence: limitText(ask.text, trans),
    hint: trans.__('Continuing starts a new count.'),
    approve: trans.__('Continue'),
    deny: trans.__('Stop')
  };
}
