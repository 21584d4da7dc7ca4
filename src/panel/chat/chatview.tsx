import * as React from 'react';

import { FileChanges } from '../filechanges/filechanges';
import { useStore } from '../hooks';
import { usePanel } from '../services';
import { Announcements } from './announcements';
import { Announcer } from './announcer';
import { ChatContext } from './chatcontext';
import type { IChat } from './chatcontext';
import { ChatList } from './chatlist';
import { RenderedBlocks } from './markdown/renderedblocks';
import { safeRegistry } from './markdown/sanitizer';

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
    <ChatContext.Provider value={chat}>
      <ChatList />
      <FileChanges />
      <Announcer />
    </ChatContext.Provider>
  );
}

/**
 * What the rows share, for as long as the conversation is on screen.
 */
function useNewChat(): IChat | null {
  const { rendermime, documents } = usePanel();
  const [chat, setChat] = React.useState<IChat | null>(null);
  React.useLayoutEffect(() => {
    const safe = safeRegistry(rendermime, documents);
    const blocks = new RenderedBlocks(safe);
    const announcements = new Announcements();
    setChat({ rendermime: safe, blocks, folds: new Map(), announcements });
    return () => blocks.dispose();
  }, [rendermime, documents]);
  return chat;
}
