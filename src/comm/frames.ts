import type { ServerFrame } from '../generated/wire';

const OPS: ReadonlySet<unknown> = new Set([
  'open',
  'msg',
  'ack',
  'close',
  'ping',
  'pong'
]);
const OPS_WITHOUT_DATA: ReadonlySet<unknown> = new Set(['ping', 'pong']);

/**
 * The frames in one WebSocket message, which is a frame or an array of frames.
 *
 * #### Notes
 * Page and server are of the same version, and the server validates what it
 * sends; so only the form is checked here, not each message's fields.
 *
 * @throws A `SyntaxError` or `TypeError` if it is neither.
 */
export function parseFrames(text: string): ServerFrame[] {
  const parsed: unknown = JSON.parse(text);
  const frames: unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  for (const frame of frames) {
    if (!isFrame(frame)) {
      throw new TypeError('The server sent something that is no frame');
    }
  }
  return frames as ServerFrame[];
}

function isFrame(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  const { op, data } = value as { op?: unknown; data?: unknown };
  return (
    OPS.has(op) &&
    (OPS_WITHOUT_DATA.has(op) || (typeof data === 'object' && data !== null))
  );
}
