import type { Cell } from '@jupyterlab/cells';
import {
  bugIcon,
  codeIcon,
  extensionIcon,
  fileIcon,
  folderIcon,
  historyIcon,
  listIcon,
  notebookIcon,
  runIcon,
  settingsIcon
} from '@jupyterlab/ui-components';

import type {
  Command,
  FileResult,
  GitCommit,
  McpResourceInfo,
  ModeName
} from '../../../generated/wire';
import type { VariableView } from '../../../generated/rest';
import { asErrorBody, errorText } from '../../../errors';
import { variablesIcon } from '../../../ui/icons/variablesicon';
import type { CellPart } from '../../../notebook/cells/cellparts';
import { modeName } from '../../../ui/texts/modenames';
import type { IPanelServices } from '../../../ui/services';
import { slashCommandDetail } from '../../../ui/texts/slashcommands';
import type { ICellAt } from '../attachments/attachpart';
import { attachPart } from '../attachments/attachpart';
import { documentPath } from '../../../ui/notebookchoice';
import { requestMessage } from '../../../comm/requestmessage';
import type { ISuggestion } from './suggestions';
import { mentionOf } from './suggestions';

/**
 * How many cells are offered at most, of which one sees the first lines.
 */
const MOST_CELLS = 200;

/**
 * How many commits are offered, below the files.
 */
const MOST_COMMITS = 5;

/**
 * The mention of the errors in the notebook, and of what differs from the last
 * commit, as the server reads them.
 */
const PROBLEMS = '@problems';
export const CHANGES = '@git-changes';

/**
 * What of the notebook in front may be meant by an `@`: itself, its errors, what
 * one is at, what went wrong last, and its cells.
 *
 * @param onRefused - Told in words why something was not attached.
 */
export async function notebookSuggestions(
  services: IPanelServices,
  onRefused: (refusal: string) => void
): Promise<ISuggestion[]> {
  const { notebooks, trans } = services;
  const panel = notebooks?.currentWidget ?? null;
  const path = panel && !panel.isDisposed ? documentPath(panel) : null;
  if (!panel || path === null) {
    return [];
  }
  const { firstLine, hasOutputs, lastFailed, partsOf, sectionsOf } =
    await import('../../../notebook/cells/cellparts');
  const { widgets, activeCell } = panel.content;
  const attach = (part: CellPart, at: ICellAt) => ({
    kind: 'run' as const,
    run: () =>
      void attachPart(services, part, at).then(
        refusal => refusal !== null && onRefused(refusal)
      )
  });
  const attachCells = async (cells: readonly Cell[]) => {
    const taskId = services.store.state?.currentTaskId ?? null;
    for (const cell of cells) {
      // Of a section, what is empty is no reason to say so.
      if (partsOf(cell).has('cell')) {
        const at = { panel, cell };
        const refusal = await attachPart(services, 'cell', at, taskId);
        if (refusal !== null) {
          onRefused(refusal);
          return;
        }
      }
    }
  };
  const suggestions: ISuggestion[] = [
    {
      key: 'notebook',
      icon: notebookIcon,
      label: trans.__('This notebook'),
      detail: path,
      choice: { kind: 'insert', text: mentionOf(path) }
    },
    {
      key: 'problems',
      icon: bugIcon,
      label: trans.__('Errors in this notebook'),
      detail: PROBLEMS,
      choice: { kind: 'insert', text: PROBLEMS }
    }
  ];
  const failed = lastFailed(panel);
  if (activeCell) {
    const at = { panel, cell: activeCell };
    const labels = Private.partLabels(trans);
    for (const part of partsOf(activeCell)) {
      if (part !== 'error' || activeCell !== failed) {
        suggestions.push({
          key: part,
          icon: part === 'error' ? bugIcon : codeIcon,
          label: labels[part],
          detail: firstLine(activeCell),
          choice: attach(part, at)
        });
      }
    }
  }
  if (failed) {
    suggestions.push({
      key: 'failed',
      icon: bugIcon,
      label: trans.__('Last failed cell'),
      detail: firstLine(failed),
      choice: attach('error', { panel, cell: failed })
    });
  }
  const cells = widgets.slice(0, MOST_CELLS);
  cells.forEach((cell, index) => {
    suggestions.push({
      key: `cell:${cell.model.id}`,
      icon: codeIcon,
      label: trans.__('Cell %1', index + 1),
      detail: firstLine(cell),
      choice: attach('cell', { panel, cell })
    });
  });
  cells.forEach((cell, index) => {
    if (hasOutputs(cell)) {
      suggestions.push({
        key: `output:${cell.model.id}`,
        icon: codeIcon,
        label: trans.__('Output of cell %1', index + 1),
        detail: firstLine(cell),
        choice: attach('output', { panel, cell })
      });
    }
  });
  for (const { cell, title, cells } of sectionsOf(widgets)) {
    suggestions.push({
      key: `section:${cell.model.id}`,
      icon: listIcon,
      label: trans.__('Section: %1', title),
      detail: trans._n('%1 cell', '%1 cells', cells.length),
      choice: {
        kind: 'run',
        run: () => void attachCells(cells)
      }
    });
  }
  return suggestions;
}

/**
 * The variables of the notebook in front, and the columns of its tables; nothing
 * where no Python kernel runs, and `'later'` where it tells them after its cell.
 *
 * @param onRefused - Told in words why something was not attached.
 */
export async function variableSuggestions(
  services: IPanelServices,
  onRefused: (refusal: string) => void
): Promise<ISuggestion[] | 'later'> {
  const { notebooks, serverSettings, trans } = services;
  const panel = notebooks?.currentWidget ?? null;
  const path = panel && !panel.isDisposed ? documentPath(panel) : null;
  if (path === null) {
    return [];
  }
  const { VariablesApi } = await import('../../../rest/variablesapi');
  const api = new VariablesApi(serverSettings);
  const { kernel, variables } = await api.variables(path, { changes: false });
  if (kernel?.answers === 'later') {
    return kernel.answers;
  }
  const attach = async (name: string) => {
    const { attachVariable } = await import('../attachments/attachvariable');
    const refusal = await attachVariable(services, path, name).catch(
      (reason: unknown) => errorText(trans, asErrorBody(reason))
    );
    if (refusal !== null) {
      onRefused(refusal);
    }
  };
  return variables.flatMap(variable => [
    Private.variable(variable, () => void attach(variable.name)),
    ...(variable.hasTextColumns ? variable.columns : []).map(
      ({ name, dtype }) => Private.column(variable.name, name, dtype)
    )
  ]);
}

/**
 * The files of the workspace that a query finds.
 */
export async function fileSuggestions(
  { client }: Pick<IPanelServices, 'client'>,
  query: string
): Promise<ISuggestion[]> {
  const { results } = await requestMessage(
    client,
    { type: 'searchFiles', query },
    'fileSearchResults'
  );
  return results.map(Private.file);
}

/**
 * What the MCP servers have to read; nothing where none is used.
 */
export async function resourceSuggestions({
  serverSettings,
  store
}: Pick<IPanelServices, 'serverSettings' | 'store'>): Promise<ISuggestion[]> {
  if (!store.state?.settings?.mcpEnabled) {
    return [];
  }
  const { McpApi } = await import('../../../rest/mcpapi');
  const { servers } = await new McpApi(serverSettings).servers();
  return servers
    .filter(({ disabled, status }) => !disabled && status === 'connected')
    .flatMap(({ name, resources = [] }) =>
      resources.map(resource => Private.resource(name, resource))
    );
}

/**
 * The changes since the last commit, and the commits that a query finds; nothing
 * where the workspace is in no repository.
 */
export async function commitSuggestions(
  { client, trans }: Pick<IPanelServices, 'client' | 'trans'>,
  query: string
): Promise<ISuggestion[]> {
  const { commits, error } = await requestMessage(
    client,
    { type: 'searchCommits', query },
    'commitSearchResults'
  );
  if (error !== undefined) {
    return [];
  }
  return [
    {
      key: CHANGES,
      icon: historyIcon,
      label: trans.__('Changes since the last commit'),
      detail: CHANGES,
      choice: { kind: 'insert', text: CHANGES }
    },
    ...commits.slice(0, MOST_COMMITS).map(Private.commit)
  ];
}

/**
 * What may be meant by a `/`: a command, or a mode to go on in.
 *
 * @param onMode - Switches to a mode.
 */
export async function commandSuggestions(
  { client, store, trans }: Pick<IPanelServices, 'client' | 'store' | 'trans'>,
  onMode: (slug: string) => void
): Promise<ISuggestion[]> {
  const [{ commands }, modes] = await Promise.all([
    requestMessage(client, { type: 'requestCommands' }, 'commands'),
    loadModes(client)
  ]);
  return [
    ...commands.map(command => Private.command(command, trans)),
    ...modes.map(({ slug, name }) => ({
      key: `mode:${slug}`,
      icon: settingsIcon,
      label: slug,
      detail: trans.__(
        'Switch to the mode %1',
        modeName(trans, slug, store.state?.customModes, name)
      ),
      choice: { kind: 'run' as const, run: () => onMode(slug) }
    }))
  ];
}

/**
 * The modes one can work in.
 */
export async function loadModes(
  client: IPanelServices['client']
): Promise<ModeName[]> {
  const { modes } = await requestMessage(
    client,
    { type: 'requestModes' },
    'modes'
  );
  return modes;
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function partLabels(
    trans: IPanelServices['trans']
  ): Record<CellPart, string> {
    return {
      cell: trans.__('Current cell'),
      selection: trans.__('Selection'),
      output: trans.__('Output of the current cell'),
      error: trans.__('Error of the current cell')
    };
  }

  export function file({ path, type, label }: FileResult): ISuggestion {
    const isFolder = type === 'folder';
    const clean = path.replace(/^\/+|\/+$/g, '');
    const slash = clean.lastIndexOf('/');
    const name = clean.slice(slash + 1);
    return {
      key: `file:${path}`,
      icon: isFolder
        ? folderIcon
        : name.endsWith('.ipynb')
          ? notebookIcon
          : fileIcon,
      label: label ?? name,
      ...(slash > 0 ? { detail: clean.slice(0, slash) } : {}),
      choice: {
        kind: 'insert',
        text: isFolder ? `${mentionOf(clean)}/` : mentionOf(clean),
        goesOn: isFolder
      }
    };
  }

  export function variable(
    { name, type, shape }: VariableView,
    run: () => void
  ): ISuggestion {
    const size = shape ? ` ${shape.map(side => side ?? '?').join(' × ')}` : '';
    return {
      key: `variable:${name}`,
      icon: variablesIcon,
      label: name,
      detail: `${type.slice(type.lastIndexOf('.') + 1)}${size}`,
      choice: { kind: 'run', run }
    };
  }

  export function column(
    frame: string,
    name: string,
    dtype: string
  ): ISuggestion {
    return {
      key: `column:${frame}:${name}`,
      icon: variablesIcon,
      label: `${frame}[${JSON.stringify(name)}]`,
      detail: dtype,
      choice: { kind: 'insert', text: `\`${frame}[${JSON.stringify(name)}]\`` }
    };
  }

  export function resource(
    server: string,
    { uri, name }: McpResourceInfo
  ): ISuggestion {
    return {
      key: `resource:${server}:${uri}`,
      icon: extensionIcon,
      label: name || uri,
      detail: `${server}: ${uri}`,
      choice: {
        kind: 'insert',
        text: `@${server}:${uri}`.replace(/ /g, '\\ ')
      }
    };
  }

  export function commit({
    hash,
    shortHash,
    subject,
    author,
    date
  }: GitCommit): ISuggestion {
    return {
      key: `commit:${hash}`,
      icon: historyIcon,
      label: subject,
      detail: `${shortHash} — ${author}, ${date}`,
      choice: { kind: 'insert', text: `@${shortHash}` }
    };
  }

  export function command(
    command: Command,
    trans: IPanelServices['trans']
  ): ISuggestion {
    const { name } = command;
    const detail = slashCommandDetail(command, trans);
    return {
      key: `command:${name}`,
      icon: runIcon,
      label: name,
      ...(detail ? { detail } : {}),
      choice: { kind: 'insert', text: `/${name}` }
    };
  }
}
