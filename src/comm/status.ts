import type { ErrorBody } from '../generated/wire';

/**
 * Where the connection stands.
 *
 * - `connecting`: the first try since the page loaded
 * - `open`: the server has answered, messages flow
 * - `reconnecting`: it was lost, the next try comes by itself
 * - `offline`: several tries failed, or there is no point in hurrying
 * - `refused`: the server does not want this page; no further try
 */
export type ConnectionPhase =
  'connecting' | 'open' | 'reconnecting' | 'offline' | 'refused';

/**
 * Why there is no connection.
 *
 * - `lost`: it broke off; whether anything still answers is not known yet
 * - `network`: nothing answers
 * - `login_expired`: the server answers, but does not know this person any more
 * - `extension_missing`: the server answers, but has no agent
 * - `socket_blocked`: the server answers, but no WebSocket gets through
 * - `version_mismatch`: page and server are of different versions
 * - `closed`: the server closed the channel for a reason of its own
 */
export type ConnectionReason =
  | 'lost'
  | 'network'
  | 'login_expired'
  | 'extension_missing'
  | 'socket_blocked'
  | 'version_mismatch'
  | 'closed';

/**
 * What a person is told about the connection.
 */
export interface IConnectionStatus {
  readonly phase: ConnectionPhase;

  /**
   * Why it is not open; `null` while it is, or before anything went wrong.
   */
  readonly reason: ConnectionReason | null;

  /**
   * When the next try comes, in milliseconds since the epoch.
   */
  readonly retryAt: number | null;

  /**
   * How many tries have failed in a row.
   */
  readonly attempt: number;

  /**
   * The version of this page.
   */
  readonly pageVersion: string;

  /**
   * The version the server named last.
   */
  readonly serverVersion: string | null;

  /**
   * Why the server does not want this page.
   */
  readonly refusal: ErrorBody | null;
}
