import {
  DiagramError,
  DiagramFrame,
  NoDiagramFrame,
  within
} from './diagramframe';
import type { IDiagramStyle, IDrawnDiagram } from './diagramframe';
import { safeSvg } from './svgsanitizer';

/**
 * Draws diagrams; a frame is there while it is used.
 */
export interface IDiagramDrawing {
  draw(source: string, looks: IDiagramStyle): Promise<IDrawnDiagram>;
}

/**
 * How many milliseconds one diagram may take, and the frame to begin.
 */
const MOST_TIME = 20_000;

/**
 * For how many milliseconds a frame is kept that draws nothing.
 */
const IDLE_TIME = 60_000;

/**
 * How many drawings are kept: a text that grows is rendered again and again.
 */
const KEPT = 50;

/**
 * Draws in a frame that is made when it is wanted.
 */
export class DiagramDrawing implements IDiagramDrawing {
  constructor(
    loadMermaid: () => Promise<string>,
    { mostTime = MOST_TIME, idleTime = IDLE_TIME } = {}
  ) {
    this._loadMermaid = loadMermaid;
    this._mostTime = mostTime;
    this._idleTime = idleTime;
  }

  /**
   * Draw a diagram, or take it as it was drawn before.
   */
  draw(source: string, looks: IDiagramStyle): Promise<IDrawnDiagram> {
    const key = JSON.stringify([source, looks]);
    const known = this._drawn.get(key);
    this._drawn.delete(key);
    const drawn = known ?? this._draw(key, source, looks);
    this._drawn.set(key, drawn);
    if (this._drawn.size > KEPT) {
      const [oldest = ''] = this._drawn.keys();
      this._drawn.delete(oldest);
    }
    return drawn;
  }

  private _draw(
    key: string,
    source: string,
    looks: IDiagramStyle
  ): Promise<IDrawnDiagram> {
    // One after the other: the time is that of one.
    const turn = this._turn.then(() => this._drawNow(source, looks));
    this._turn = turn.catch((reason: unknown) => {
      if (reason instanceof NoDiagramFrame) {
        // It may go better another time.
        this._drawn.delete(key);
      }
    });
    return turn;
  }

  private async _drawNow(
    source: string,
    looks: IDiagramStyle
  ): Promise<IDrawnDiagram> {
    clearTimeout(this._idle);
    const frame = await this._readyFrame();
    try {
      const { svg, ...told } = await within(
        frame.draw(source, looks),
        this._mostTime
      );
      const picture = safeSvg(svg);
      if (picture === null) {
        throw new DiagramError('What was drawn is no picture.');
      }
      return { ...told, svg: new XMLSerializer().serializeToString(picture) };
    } catch (reason) {
      if (reason instanceof NoDiagramFrame) {
        this._close();
        throw new DiagramError('It takes too long to draw.');
      }
      throw reason;
    } finally {
      this._idle = setTimeout(() => this._close(), this._idleTime);
    }
  }

  private async _readyFrame(): Promise<DiagramFrame> {
    if (this._isUnusable) {
      throw new NoDiagramFrame('The frame did not work before.');
    }
    const mostTime = this._mostTime;
    if (this._frame === null) {
      // A slow network is no reason to give up for good.
      const code = await within(this._load(), mostTime);
      this._frame = new DiagramFrame({ code, mostTime });
    }
    try {
      await this._frame.ready;
    } catch (reason) {
      this._isUnusable = true;
      this._close();
      throw reason;
    }
    return this._frame;
  }

  private async _load(): Promise<string> {
    try {
      return await this._loadMermaid();
    } catch (reason) {
      throw new NoDiagramFrame(String(reason));
    }
  }

  private _close(): void {
    clearTimeout(this._idle);
    this._frame?.dispose();
    this._frame = null;
  }

  private readonly _loadMermaid: () => Promise<string>;
  private readonly _mostTime: number;
  private readonly _idleTime: number;
  private readonly _drawn = new Map<string, Promise<IDrawnDiagram>>();
  private _turn: Promise<unknown> = Promise.resolve();
  private _frame: DiagramFrame | null = null;
  private _isUnusable = false;
  private _idle: ReturnType<typeof setTimeout> | undefined;
}
