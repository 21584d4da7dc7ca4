import { Clipboard, Dialog, showDialog } from '@jupyterlab/apputils';
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import { RequestError } from '../../comm/requesterror';
import { LabDialogs } from '../dialogs';
import type { AgentStore } from '../../state/store';
import { readAttachments } from '../../state/panel/attachments';
import { focusComposer } from '../focuscomposer';
import type { IPanelServices } from '../services';

/**
 * What a conversation can be saved as.
 */
export const EXPORT_FORMATS = ['markdown', 'notebook', 'json'] as const;

/**
 * One of the forms a conversation can be saved in.
 */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/**
 * A conversation as the dialogs speak of it.
 */
export interface INamedTask {
  readonly taskId: string;
  readonly title: string;
}

/**
 * Show an empty panel; all that is open stays so.
 */
export async function beginConversation({
  client,
  state,
  node
}: IPanelServices): Promise<void> {
  await client.request({ type: 'newConversation' });
  state.page = 'chat';
  focusComposer(node);
}

/**
 * Show a conversation.
 *
 * @param ts - The message to bring into sight; without it, the newest.
 */
export async function showConversation(
  { client, store, state }: IPanelServices,
  taskId: string,
  ts: number | null = null
): Promise<void> {
  if (store.state?.currentTaskId !== taskId) {
    await client.request({ type: 'showTaskWithId', taskId });
  }
  state.wantedMessage = ts === null ? null : { taskId, ts };
  state.page = 'chat';
}

/**
 * Take a conversation off the strip. One that works goes on, unless the
 * person wants it stopped.
 */
export async function closeConversation(
  { client, store, trans }: IPanelServices,
  task: INamedTask
): Promise<void> {
  const { taskId, title } = task;
  if (!isWorking(store, taskId)) {
    await client.request({ type: 'closeConversation', taskId });
    return;
  }
  const goOn = Dialog.okButton({ label: trans.__('Close and keep working') });
  const stop = Dialog.warnButton({ label: trans.__('Close and stop') });
  const { button } = await showDialog({
    title: trans.__('Close “%1”?', title),
    body: trans.__(
      'The agent is still working here. It can continue in the background. Either way, the conversation stays in the history.'
    ),
    buttons: [Dialog.cancelButton({ label: trans.__('Cancel') }), stop, goOn],
    // Enter must not stop anything.
    defaultButton: 2
  });
  if (button.accept) {
    const isStopped = button.label === stop.label;
    await client.request({
      type: 'closeConversation',
      taskId,
      ...(isStopped ? { stop: true } : {})
    });
  }
}

/**
 * Ask for a title, and give it to a conversation.
 */
export async function renameConversation(
  { client, trans }: IPanelServices,
  { taskId, title }: INamedTask
): Promise<void> {
  const name = await new LabDialogs(trans).askName({
    title: trans.__('Rename the conversation'),
    label: trans.__('Title'),
    accept: trans.__('Rename'),
    name: title
  });
  if (name !== null && name !== title) {
    await client.request({ type: 'renameTask', taskId, title: name });
  }
}

/**
 * Copy the words a conversation began with, to ask for it again elsewhere.
 */
export async function copyRequest(
  { serverSettings }: IPanelServices,
  taskId: string
): Promise<void> {
  const { HistoryApi } = await import('../../rest/historyapi');
  const { task } = await new HistoryApi(serverSettings).conversation(taskId);
  Clipboard.copyToSystem(readAttachments(task).text);
}

/**
 * Copy a conversation as Markdown, as it would be exported.
 */
export async function copyConversation(
  services: IPanelServices,
  taskId: string
): Promise<void> {
  const { serverSettings } = services;
  const url = await exportUrl(services, taskId, 'markdown');
  const response = await ServerConnection.makeRequest(url, {}, serverSettings);
  if (!response.ok) {
    throw new ServerConnection.ResponseError(response);
  }
  Clipboard.copyToSystem(await response.text());
}

/**
 * Delete conversations with their subtasks, when the person is sure.
 *
 * @returns Whether they were deleted.
 */
export async function deleteConversations(
  { client, store, trans }: IPanelServices,
  tasks: readonly INamedTask[]
): Promise<boolean> {
  const isSure = await new LabDialogs(trans).confirm({
    title:
      tasks.length === 1
        ? trans.__('Delete “%1”?', tasks[0].title)
        : trans._n(
            'Delete %1 conversation?',
            'Delete %1 conversations?',
            tasks.length
          ),
    body: tasks.some(({ taskId }) => isWorking(store, taskId))
      ? trans.__(
          'The agent is still working here. It will be stopped first. Messages and subtasks are deleted for good. What the agent changed in notebooks and files stays.'
        )
      : trans.__(
          'Messages and subtasks are deleted for good. What the agent changed in notebooks and files stays.'
        ),
    accept: trans.__('Delete')
  });
  if (!isSure) {
    return false;
  }
  // What is open is being worked on as far as the server can tell, and is not deleted as it is.
  const open = new Set(store.state?.openTasks?.map(({ taskId }) => taskId));
  const ids = tasks.map(({ taskId }) => taskId);
  for (const taskId of ids.filter(id => open.has(id))) {
    await client.request({ type: 'closeConversation', taskId, stop: true });
  }
  if (ids.length === 1) {
    await client.request({ type: 'deleteTaskWithId', taskId: ids[0] });
  } else {
    await client.request({ type: 'deleteMultipleTasksWithIds', ids });
  }
  return true;
}

/**
 * Save a conversation as a file where the browser puts downloads.
 */
export async function exportConversation(
  services: IPanelServices,
  taskId: string,
  format: ExportFormat = 'markdown'
): Promise<void> {
  const link = document.createElement('a');
  link.href = await exportUrl(services, taskId, format);
  link.download = '';
  document.body.appendChild(link);
  link.click();
  link.remove();
}

async function exportUrl(
  { client, serverSettings }: IPanelServices,
  taskId: string,
  format: ExportFormat
): Promise<string> {
  const path = await client.request({ type: 'exportTaskWithId', taskId });
  if (typeof path !== 'string') {
    throw new RequestError({
      code: 'bad_answer',
      message: 'The server did not say where the export is.'
    });
  }
  const url = new URL(
    URLExt.join(serverSettings.baseUrl, path),
    window.location.href
  );
  url.searchParams.set('format', format);
  return url.href;
}

/**
 * Go on in a copy of the conversation on screen.
 */
export async function forkConversation({
  client,
  store
}: IPanelServices): Promise<void> {
  const taskId = store.state?.currentTaskId;
  const messageTs = store.order.at(-1);
  if (taskId !== undefined && messageTs !== undefined) {
    await client.request({ type: 'forkTask', taskId, messageTs });
  }
}

/**
 * Whether the agent works on a conversation, or waits in the middle of work for an answer.
 */
function isWorking({ state }: AgentStore, taskId: string): boolean {
  // What is on screen is told at once, the strip a moment later. One that waits
  // for its subtask does nothing itself.
  const shown =
    state?.currentTaskId === taskId ? state.currentTaskStatus : 'none';
  const status =
    shown === undefined || shown === 'none'
      ? state?.openTasks?.find(task => task.taskId === taskId)?.status
      : shown;
  return status === 'running' || status === 'interactive';
}
