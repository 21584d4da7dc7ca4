import type { ConnectionReason } from './status';

/**
 * After this many answers over HTTP without a WebSocket, one suspects a proxy:
 * a server that has just come back may answer one before the other.
 */
const FAILED_PROBES = 3;

/**
 * After this many answers that there is no agent, one believes it: Jupyter
 * serves pages some seconds before the agent has started.
 */
const MISSED_PROBES = 6;

/**
 * Finds out why no WebSocket could be opened.
 *
 * #### Notes
 * A browser hides the HTTP status of a refused WebSocket, so the same server
 * is asked over plain HTTP.
 */
export class Diagnosis {
  /**
   * @param probe - Asks the server something simple: its status, or `null` if
   * nothing answers. It never rejects.
   */
  constructor(probe: () => Promise<number | null>) {
    this._probe = probe;
  }

  /**
   * The reason, as far as one can tell.
   */
  async find(): Promise<ConnectionReason> {
    const status = await this._probe();
    this._failedProbes = status === 200 ? this._failedProbes + 1 : 0;
    this._missedProbes = status === 404 ? this._missedProbes + 1 : 0;
    switch (status) {
      case null:
        return 'network';
      case 401:
      case 403:
        return 'login_expired';
      case 404:
        return this._missedProbes < MISSED_PROBES
          ? 'lost'
          : 'extension_missing';
      default:
        return this._failedProbes < FAILED_PROBES ? 'lost' : 'socket_blocked';
    }
  }

  /**
   * Forget earlier findings, because a WebSocket was opened.
   */
  clear(): void {
    this._failedProbes = 0;
    this._missedProbes = 0;
  }

  private readonly _probe: () => Promise<number | null>;
  private _failedProbes = 0;
  private _missedProbes = 0;
}

/**
 * Whether trying again is of no use until somebody has done something.
 */
export function needsAPerson(reason: ConnectionReason | null): boolean {
  return reason === 'login_expired' || reason === 'extension_missing';
}
