import type {
  CellVersions,
  CheckpointDiff,
  CheckpointView,
  RestartedRun,
  RestartPreview,
  RestorePreview,
  RestoreResult,
  StoreActionBody,
  StoreView,
  TimelineView
} from '../generated/rest';
import type { Parts } from '../generated/wire';
import { SettingsApi } from './settingsapi';

/**
 * Which workspace is meant: that of a conversation or of a notebook; without
 * either, the server's own folder.
 */
export interface IPlace {
  readonly task?: string;

  /**
   * In the contents API.
   */
  readonly path?: string;
}

/**
 * A part of a checkpoint that comes back alone or with others.
 */
export type Part = 'files' | 'notebooks' | 'variables' | 'conversation';

/**
 * What of a checkpoint to restore.
 */
export interface IRestoredParts extends Omit<
  Parts,
  Part | 'leaveVariables' | 'onlyVariables'
> {
  readonly parts: readonly Part[];

  /**
   * Names of variables that stay as they are.
   */
  readonly leaveVariables?: readonly string[];

  /**
   * Names of the only ones that do not.
   */
  readonly onlyVariables?: readonly string[];
}

/**
 * Whose kernel to restart, and up to which cell its cells run then: one that is
 * named, or the last that had run by a checkpoint.
 */
export type IRestartTarget = {
  readonly path: string;

  /**
   * The conversation whose workspace has the checkpoint.
   */
  readonly task?: string;
} & ({ readonly cell: string } | { readonly checkpoint: string });

/**
 * What a checkpoint is compared with: the one before it, the first one, or how
 * things are now.
 */
export type Comparison = 'previous' | 'beginning' | 'now';

/**
 * The server's REST interface, with what is asked about checkpoints.
 */
export class TimelineApi extends SettingsApi {
  /**
   * A page of what was done to a workspace, newest first.
   */
  view(
    place: IPlace,
    {
      before,
      limit,
      onlyTask
    }: { before?: string; limit?: number; onlyTask?: boolean } = {}
  ): Promise<TimelineView> {
    return this._request('GET /checkpoints', {
      query: {
        ...place,
        ...(before !== undefined && { before }),
        ...(limit !== undefined && { limit: String(limit) }),
        ...(onlyTask && { onlyTask: 'true' })
      }
    });
  }

  /**
   * Save the workspace, and of the place's notebook its cells and variables.
   *
   * @returns The checkpoint; one that was there already if nothing is different.
   */
  save(place: IPlace, note?: string): Promise<CheckpointView> {
    return this._request('POST /checkpoints', { body: { ...place, note } });
  }

  /**
   * What differs between a checkpoint and another.
   *
   * @param only - One file; without it, all of them.
   *
   * @param content - Whether line by line; names and sizes alone are quick.
   */
  diff(
    place: IPlace,
    checkpoint: string,
    {
      against,
      only,
      content
    }: { against: Comparison; only?: string; content: boolean }
  ): Promise<CheckpointDiff> {
    return this._request('GET /checkpoints/{checkpoint}/diff', {
      path: { checkpoint },
      query: {
        ...place,
        against,
        content: String(content),
        ...(only !== undefined && { only })
      }
    });
  }

  /**
   * A file as a checkpoint has it.
   */
  async file(place: IPlace, checkpoint: string, file: string): Promise<Blob> {
    const response = await this._respond('GET /checkpoints/{checkpoint}/file', {
      path: { checkpoint },
      query: { ...place, file }
    });
    return response.blob();
  }

  /**
   * Where the files of a checkpoint are to be had as one: a zip, or a git repository
   * within one.
   */
  exportUrl(place: IPlace, checkpoint: string, kind: 'zip' | 'git'): string {
    return this._url('GET /checkpoints/{checkpoint}/export', {
      path: { checkpoint },
      query: { ...place, kind }
    });
  }

  /**
   * What going back to a checkpoint would do. Nothing is changed by looking.
   */
  preview(
    place: IPlace,
    checkpoint: string,
    choice: IRestoredParts
  ): Promise<RestorePreview> {
    return this._request('POST /checkpoints/{checkpoint}/preview', {
      path: { checkpoint },
      body: { ...place, parts: Private.partsOf(choice) }
    });
  }

  restore(
    place: IPlace,
    checkpoint: string,
    choice: IRestoredParts
  ): Promise<RestoreResult> {
    return this._request('POST /checkpoints/{checkpoint}/restore', {
      path: { checkpoint },
      body: { ...place, parts: Private.partsOf(choice) }
    });
  }

  /**
   * What taking back a restore, or an undo, would do.
   *
   * @param overwrite - Whether also what the person changed since.
   */
  previewUndo(
    place: IPlace,
    operation: string,
    overwrite: boolean
  ): Promise<RestorePreview> {
    return this._request('POST /checkpoint-operations/{operation}/preview', {
      path: { operation },
      body: { ...place, overwrite }
    });
  }

  undo(
    place: IPlace,
    operation: string,
    overwrite: boolean
  ): Promise<RestoreResult> {
    return this._request('POST /checkpoint-operations/{operation}/undo', {
      path: { operation },
      body: { ...place, overwrite }
    });
  }

  /**
   * What a cell was, newest first.
   */
  cellVersions(path: string, cell: string): Promise<CellVersions> {
    return this._request('GET /checkpoints/cells', { query: { path, cell } });
  }

  /**
   * Which cells would run again if a kernel were restarted.
   */
  previewRestart(target: IRestartTarget): Promise<RestartPreview> {
    return this._request('POST /kernel-restarts/preview', { body: target });
  }

  /**
   * Restart a kernel and begin to run its cells.
   *
   * @param seen - What the preview told: nothing else runs.
   */
  restart(target: IRestartTarget, seen: string): Promise<RestartedRun> {
    return this._request('POST /kernel-restarts', {
      body: { ...target, seen }
    });
  }

  /**
   * How far such a run is.
   */
  restarted(run: string): Promise<RestartedRun> {
    return this._request('GET /kernel-restarts/{run}', { path: { run } });
  }

  /**
   * Interrupt the cell that runs, and run none after it.
   */
  stopRestarted(run: string): Promise<RestartedRun> {
    return this._request('POST /kernel-restarts/{run}/stop', {
      path: { run }
    });
  }

  /**
   * Bring the store within its limits, or settle a restore that was cut short.
   */
  act(place: IPlace, action: StoreActionBody['action']): Promise<StoreView> {
    return this._request('POST /checkpoints/store', {
      body: { ...place, action }
    });
  }
}

/**
 * A namespace for private data.
 */
namespace Private {
  export function partsOf({
    parts,
    leaveVariables,
    onlyVariables,
    ...others
  }: IRestoredParts): Parts {
    return {
      ...others,
      ...(leaveVariables && { leaveVariables: [...leaveVariables] }),
      ...(onlyVariables && { onlyVariables: [...onlyVariables] }),
      files: parts.includes('files'),
      notebooks: parts.includes('notebooks'),
      variables: parts.includes('variables'),
      conversation: parts.includes('conversation')
    };
  }
}
