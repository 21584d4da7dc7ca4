import type { IDisposable } from '@lumino/disposable';

import { FRAME_DOCUMENT } from './framedocument';

/**
 * A diagram as it was drawn: nobody has looked yet at what is in it.
 */
export interface IDrawnDiagram {
  readonly svg: string;
  readonly title: string;
  readonly description: string;
}

/**
 * What a diagram looks like.
 */
export interface IDiagramStyle {
  readonly theme: 'default' | 'dark';
  readonly fontFamily: string;
}

/**
 * Why a source is no diagram, in the words of Mermaid.
 */
export class DiagramError extends Error {}

/**
 * The frame does not work in this page, as where a proxy's policy forbids it.
 */
export class NoDiagramFrame extends Error {}

/**
 * Draws diagrams where nothing can be fetched.
 *
 * #### Notes
 * Mermaid puts what a source says into a page before anything can be taken out
 * of it: images, fonts and style sheets are fetched while it draws. So it draws
 * in a frame without an origin, whose policy forbids every connection.
 *
 * There are two frames, one in the other. The outer one has no script; its
 * policy keeps the inner one from going to another page, which the inner one's
 * own policy could not.
 */
export class DiagramFrame implements IDisposable {
  constructor(options: DiagramFrame.IOptions) {
    this._options = options;
    const node = document.createElement('iframe');
    node.className = 'jp-hdspAgent-diagram-frame';
    node.setAttribute('sandbox', 'allow-scripts');
    node.setAttribute('referrerpolicy', 'no-referrer');
    node.setAttribute('aria-hidden', 'true');
    node.tabIndex = -1;
    node.srcdoc = FRAME_DOCUMENT;
    this._node = node;
    this._port = within(this._open(), options.mostTime);
    // Whoever draws hears of it.
    this._port.catch(() => undefined);
  }

  /**
   * Whether this is disposed.
   */
  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /**
   * Take the frame out of the page.
   */
  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._channel.port1.close();
    this._node.remove();
    const gone = new NoDiagramFrame('The frame was closed.');
    this._pending.forEach(({ reject }) => reject(gone));
    this._pending.clear();
  }

  /**
   * Draw a diagram.
   *
   * @throws DiagramError - If the source cannot be drawn.
   * @throws NoDiagramFrame - If nothing can.
   */
  async draw(source: string, looks: IDiagramStyle): Promise<IDrawnDiagram> {
    const port = await this._port;
    const id = this._next++;
    const drawn = new Promise<IDrawnDiagram>((resolve, reject) =>
      this._pending.set(id, { resolve, reject })
    );
    port.postMessage({ id, source, ...looks });
    return drawn;
  }

  /**
   * Resolved when the frame can draw.
   */
  get ready(): Promise<unknown> {
    return this._port;
  }

  private async _open(): Promise<MessagePort> {
    const loaded = new Promise<void>(resolve =>
      this._node.addEventListener('load', () => resolve(), { once: true })
    );
    document.body.append(this._node);
    await loaded;
    const { port1, port2 } = this._channel;
    const inner = this._node.contentWindow?.[0];
    if (!inner) {
      throw new NoDiagramFrame('The frame was not made.');
    }
    const first = new Promise<unknown>(resolve => {
      port1.onmessage = ({ data }: MessageEvent<unknown>) => resolve(data);
    });
    inner.postMessage(this._options.code, '*', [port2]);
    if (!isReady(await first)) {
      throw new NoDiagramFrame('The frame has no Mermaid.');
    }
    port1.onmessage = event => this._take(event.data);
    return port1;
  }

  private _take(data: unknown): void {
    if (!isAnswer(data)) {
      return;
    }
    const pending = this._pending.get(data.id);
    this._pending.delete(data.id);
    if (data.svg === undefined) {
      pending?.reject(new DiagramError(textOf(data.error)));
    } else {
      pending?.resolve({
        svg: textOf(data.svg),
        title: textOf(data.title),
        description: textOf(data.description)
      });
    }
  }

  private readonly _options: DiagramFrame.IOptions;
  private readonly _node: HTMLIFrameElement;
  private readonly _channel = new MessageChannel();
  private readonly _port: Promise<MessagePort>;
  private readonly _pending = new Map<number, IPending>();
  private _next = 0;
  private _isDisposed = false;
}

/**
 * The namespace for `DiagramFrame` statics.
 */
export namespace DiagramFrame {
  /**
   * What a frame is made of.
   */
  export interface IOptions {
    /**
     * Mermaid, as the text of a script.
     */
    readonly code: string;

    /**
     * How many milliseconds the frame has to begin.
     */
    readonly mostTime: number;
  }
}

/**
 * What is promised, if it comes within so many milliseconds.
 *
 * @throws NoDiagramFrame - If it does not.
 */
export async function within<T>(
  promise: Promise<T>,
  mostTime: number
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new NoDiagramFrame('The frame does not answer.')),
      mostTime
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

interface IPending {
  readonly resolve: (drawn: IDrawnDiagram) => void;
  readonly reject: (reason: Error) => void;
}

interface IAnswer {
  readonly id: number;
  readonly svg?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly error?: unknown;
}

function isReady(data: unknown): boolean {
  return data === 'ready';
}

// What comes out of the frame may be what the source made it say.
function isAnswer(data: unknown): data is IAnswer {
  return (
    typeof data === 'object' &&
    data !== null &&
    'id' in data &&
    typeof data.id === 'number'
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
