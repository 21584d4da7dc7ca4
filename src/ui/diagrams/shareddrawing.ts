import { DiagramDrawing } from './diagramdrawing';
import type { IDiagramDrawing } from './diagramdrawing';

/**
 * Draws the diagrams of all views of this page.
 */
export const sharedDrawing: IDiagramDrawing = new DiagramDrawing(
  // Lab's own copy cannot be given to a frame: it is in pieces that load each other.
  async () =>
    (await import('mermaid.txt!=!mermaid/dist/mermaid.min.js')).default
);
