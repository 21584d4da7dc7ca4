import * as React from 'react';

import { FileChanges } from './filechanges/filechanges';
import { useStore } from '../../ui/hooks';
import { usePanel } from '../../ui/services';
import { Announcements } from '../../ui/announcements';
import { Announcer } from './announcer';
import { RenderContext } from '../../ui/rendercontext';
import type { IRenderContext } from '../../ui/rendercontext';
import { ChatList } from './chatlist';
import { RenderedBlocks } from '../../ui/markdown/renderedblocks';
import { safeRegistry } from '../../ui/markdown/sanitizer';

/**
 * The conversation on screen.
 */
export function ChatView(): JSX.Element {
  const { store } = usePanel();
  const task = useStore(store, ({ state }) => state?.currentTaskId ?? '');
  // Another conversation begins at its own end, with nothing unfolded.
  return <Conversation key={task} />;
}

function Conversation(): JSX.Element | null {
  const chat = useNewChat();
  if (chat === null) {
    return null;
  }
  return (
    <RenderContext.Provider value={chat}>
      <ChatList />
      <FileChanges />
      <Announcer />
    </RenderContext.Provider>
  );
}

/**
 * What the rows share, for as long as the conversation is on screen.
 */
function useNewChat(): IRenderContext | null {
  const { rendermime, documents } = usePanel();
  const [chat, setChat] = React.useState<IRenderContext | null>(null);
  React.useLayoutEffect(() => {
    const safe = safeRegistry(rendermime, documents);
    const blocks = new RenderedBlocks(safe);
    const announcements = new Announcements();
    setChat({ rendermime: safe, blocks, folds: new Map(), announcements });
    return () => blocks.dispose();
  }, [rendermime, documents]);
  return chat;
}
