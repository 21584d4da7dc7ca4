import * as React from 'react';

import type { McpServer } from '../../generated/wire';
import type { McpServersData } from '../data/mcpserversdata';
import { ItemAction } from '../sections/itemactions';
import { useSettings } from '../settingscontext';

/**
 * Signs in to a server that wants it, and out again.
 */
export function SignIn({
  server,
  servers
}: {
  server: McpServer;
  servers: McpServersData;
}): JSX.Element | null {
  const { trans, announce } = useSettings();
  const { authStatus, name } = server;
  const [page, setPage] = React.useState<string | null>(null);
  const isIn = authStatus === 'authenticated';
  const isAwaited = authStatus === 'awaiting_auth';
  const wasAwaited = React.useRef(false);
  React.useEffect(() => {
    // A page that nobody waits for any more leads nowhere.
    if (isIn || (wasAwaited.current && !isAwaited)) {
      setPage(null);
    }
    wasAwaited.current = isAwaited;
  }, [isIn, isAwaited]);
  if (authStatus === undefined || server.disabled) {
    return null;
  }
  if (isIn) {
    const signOut = async () => {
      if (await servers.signOut(server)) {
        announce(trans.__('Signed out of %1.', name));
      }
    };
    return (
      <ItemAction
        label={trans.__('Sign out')}
        about={trans.__('Sign out of %1', name)}
        onClick={signOut}
      />
    );
  }
  return page === null ? (
    <ItemAction
      label={trans.__('Sign in…')}
      about={trans.__('Sign in… %1', name)}
      onClick={async () => setPage(webPage(await servers.signIn(server)))}
    />
  ) : (
    <a
      // What was pressed has made room for it.
      ref={focus}
      className="jp-hdspSettings-link"
      href={page}
      target="_blank"
      rel="noopener noreferrer"
    >
      {trans.__('Open the sign-in page of %1', name)}
    </a>
  );
}

function focus(link: HTMLAnchorElement | null): void {
  link?.focus();
}

/**
 * An address that only shows a page: another program wrote it.
 */
function webPage(url: string | null): string | null {
  return url !== null && /^https?:\/\//i.test(url) ? url : null;
}
