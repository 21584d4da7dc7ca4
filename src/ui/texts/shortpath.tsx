import * as React from 'react';

import { plainName, VisibleText } from './visibletext';

/**
 * A path in one line. Where it does not fit, the middle is left out: the end of
 * its folder, before its name. The tooltip and a screen reader have all of it.
 */
export function ShortPath({ path }: { path: string }): JSX.Element {
  const slash = Math.max(path.lastIndexOf('/'), 0);
  return (
    <span className="jp-hdspAgent-path" title={plainName(path)}>
      <span className="jp-hdspAgent-announcement">{plainName(path)}</span>
      {slash > 0 && (
        <span className="jp-hdspAgent-path-folder" aria-hidden="true">
          <VisibleText text={path.slice(0, slash)} />
        </span>
      )}
      <span className="jp-hdspAgent-path-name" aria-hidden="true">
        <VisibleText text={path.slice(slash)} />
      </span>
    </span>
  );
}
