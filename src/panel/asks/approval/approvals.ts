import { APPROVAL_PRESETS } from '../../../generated/wire';
import type {
  GlobalSettings,
  JsonValue,
  NotebookApproval
} from '../../../generated/wire';
import type { AgentState } from '../../../state/store';
import type { IPanelServices } from '../../../ui/services';
import { allowAgent } from './agentapprovals';
import { agreement } from '../autoapproval/autoapproval';
import type { ApprovedClass } from '../autoapproval/approvedclasses';
import { APPROVED_CLASSES, HARMLESS } from '../autoapproval/approvedclasses';

/**
 * How much the agent does without asking.
 */
export type ApprovalPreset = keyof typeof APPROVAL_PRESETS;

/**
 * Where a choice holds.
 */
export type ApprovalScope = 'conversation' | 'notebook' | 'program' | 'always';

/**
 * What holds now: a preset or settings of one's own, and for what.
 */
export interface IApprovals {
  readonly preset: ApprovalPreset | 'custom';
  readonly scope: ApprovalScope;

  /**
   * The notebook of the conversation, if there is one.
   */
  readonly notebook: string | null;

  /**
   * The other agent whose conversation it is; none for our own.
   */
  readonly agent?: string;
}

/**
 * The presets, the one that asks most first.
 */
export const PRESETS = Object.keys(APPROVAL_PRESETS) as ApprovalPreset[];

/**
 * What holds in the conversation on screen, or in the one that is yet to begin.
 *
 * @param choice - What was chosen for the one that is yet to begin.
 *
 * @param front - The notebook it will work on.
 */
export function approvalsOf(
  state: AgentState,
  choice: ApprovalPreset | null,
  front: string | null
): IApprovals | null {
  const { currentTaskItem: item, settings } = state;
  if (settings === undefined) {
    return null;
  }
  const notebook = (item ? item.notebook?.path : front) ?? null;
  const own = item ? item.approvalPreset : choice;
  const agent = item?.externalAgent;
  if (agent !== undefined) {
    return own
      ? { preset: own, scope: 'conversation', notebook, agent }
      : {
          preset: presetOfAgent(settings, agent),
          scope: 'program',
          notebook,
          agent
        };
  }
  if (own) {
    return { preset: own, scope: 'conversation', notebook };
  }
  const here =
    notebook === null
      ? undefined
      : byNotebook(settings)[fileOf(state, notebook)];
  return here
    ? { preset: here, scope: 'notebook', notebook }
    : { preset: presetOf(settings), scope: 'always', notebook };
}

/**
 * What another agent does without asking. What is set for our own says nothing of it.
 */
function presetOfAgent(
  { clientApprovals }: GlobalSettings,
  agent: string
): ApprovalPreset {
  const chosen: Readonly<Record<string, ApprovalPreset>> =
    clientApprovals ?? {};
  return Object.hasOwn(chosen, agent) ? chosen[agent] : 'ask';
}

/**
 * The preset that the settings are.
 */
export function presetOf(settings: GlobalSettings): ApprovalPreset | 'custom' {
  if (!settings.autoApprovalEnabled) {
    return 'ask';
  }
  const isPreset = (preset: ApprovalPreset) =>
    APPROVED_CLASSES.every(
      name =>
        name === 'alwaysAllowFollowupQuestions' ||
        settings[name] === allows(preset, name)
    );
  return PRESETS.find(isPreset) ?? 'custom';
}

/**
 * What a preset allows that can do harm.
 */
export function riskyKinds(preset: ApprovalPreset): readonly ApprovedClass[] {
  return APPROVED_CLASSES.filter(
    name => allows(preset, name) && !HARMLESS.has(name)
  );
}

/**
 * Let a preset hold from now on.
 */
export async function choosePreset(
  services: IPanelServices,
  preset: ApprovalPreset,
  scope: ApprovalScope,
  notebook: string | null
): Promise<void> {
  const { client, state: panel, store } = services;
  const agreed = await agreement(services, riskyKinds(preset), scope);
  if (agreed === null) {
    return;
  }
  const item = store.state?.currentTaskItem;
  const settings = store.state?.settings;
  if (settings === undefined) {
    return;
  }
  const change: Record<string, JsonValue> = { ...agreed };
  let notebookApproval: NotebookApproval | undefined;
  if (scope === 'notebook' && notebook !== null) {
    notebookApproval = { path: notebook, approvalPreset: preset };
  } else if (scope === 'program' && item?.externalAgent !== undefined) {
    await allowAgent(services, preset);
  } else if (scope === 'always') {
    const fixed = store.state?.fixed ?? [];
    const values = Object.entries(valuesOf(preset));
    Object.assign(
      change,
      Object.fromEntries(values.filter(([name]) => !fixed.includes(name)))
    );
    notebookApproval = withoutNotebook(store.state, notebook);
  }
  const own = scope === 'conversation' ? preset : null;
  if (item === undefined) {
    panel.approvalChoice = own;
  } else if ((item.approvalPreset ?? null) !== own) {
    await client.request({
      type: 'setTaskApprovals',
      taskId: item.id,
      ...(own ? { approvalPreset: own } : {})
    });
  }
  if (notebookApproval !== undefined || Object.keys(change).length > 0) {
    await client.request({
      type: 'updateSettings',
      updatedSettings: change,
      ...(notebookApproval ? { notebookApproval } : {})
    });
  }
}

/**
 * Let the settings decide again.
 */
export async function dropChoice(
  services: IPanelServices,
  notebook: string | null
): Promise<void> {
  const { client, state: panel, store } = services;
  const item = store.state?.currentTaskItem;
  panel.approvalChoice = null;
  if (item?.approvalPreset) {
    await client.request({ type: 'setTaskApprovals', taskId: item.id });
  }
  if (item?.externalAgent !== undefined) {
    if (!item.approvalPreset) {
      await allowAgent(services, 'ask');
    }
    return;
  }
  const notebookApproval = withoutNotebook(store.state, notebook);
  if (notebookApproval !== undefined) {
    await client.request({
      type: 'updateSettings',
      updatedSettings: {},
      notebookApproval
    });
  }
}

function allows(preset: ApprovalPreset, name: string): boolean {
  const names: readonly string[] = APPROVAL_PRESETS[preset];
  return names.includes(name);
}

function valuesOf(preset: ApprovalPreset): Record<string, JsonValue> {
  const classes = APPROVED_CLASSES.filter(
    name => name !== 'alwaysAllowFollowupQuestions'
  );
  return {
    autoApprovalEnabled: preset !== 'ask',
    ...Object.fromEntries(classes.map(name => [name, allows(preset, name)]))
  };
}

/**
 * The whole path of a notebook, which is no other's on any server.
 */
function fileOf(state: AgentState | null, notebook: string): string {
  const root = state?.notebookRoot;
  return root === undefined
    ? notebook
    : `${root.replace(/\/$/, '')}/${notebook}`;
}

function byNotebook({
  notebookApprovals
}: GlobalSettings): Readonly<Record<string, ApprovalPreset>> {
  return notebookApprovals ?? {};
}

/**
 * Lets the settings decide again in a notebook that something was chosen for.
 */
function withoutNotebook(
  state: AgentState | null,
  notebook: string | null
): NotebookApproval | undefined {
  if (state?.settings === undefined || notebook === null) {
    return undefined;
  }
  const isChosen = fileOf(state, notebook) in byNotebook(state.settings);
  return isChosen ? { path: notebook } : undefined;
}
