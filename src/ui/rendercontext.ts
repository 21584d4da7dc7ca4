import * as React from 'react';

import type { Announcements } from './announcements';
import type { RenderedBlocks } from './markdown/renderedblocks';
import type { ISafeRegistry } from './markdown/sanitizer';

/**
 * What the rows of a conversation share. A row that is scrolled out of sight
 * is taken down, so what it should remember is kept here.
 */
export interface IRenderContext {
  /**
   * Renders what a model or a file says: nothing in it fetches anything.
   */
  readonly rendermime: ISafeRegistry;

  /**
   * Markdown that was rendered, for rows that come into sight again.
   */
  readonly blocks: RenderedBlocks;

  /**
   * What is unfolded and what is not, where the person chose.
   */
  readonly folds: Map<string, boolean>;

  /**
   * Reads aloud what buttons have done.
   */
  readonly announcements: Announcements;
}

/**
 * What the rows of the conversation share.
 */
export const RenderContext = React.createContext<IRenderContext | null>(null);

/**
 * What the rows of this conversation share.
 */
export function useRenderContext(): IRenderContext {
  const chat = React.useContext(RenderContext);
  if (chat === null) {
    throw new Error('This component is used outside of the conversation.');
  }
  return chat;
}
