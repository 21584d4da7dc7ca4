import * as React from 'react';

import { usePresentPath } from '../../../ui/renamedpaths';
import { plainName } from '../../../ui/texts/visibletext';
import { Diff, DiffStats } from '../../../ui/texts/diff';
import { Fold } from '../../../ui/texts/fold';
import { PlaceLink } from '../../../ui/controls/placelink';
import type { Tool } from './tooltexts';

/**
 * Several files a tool is used on at once.
 */
export function BatchBody({
  id,
  tool
}: {
  id: string;
  tool: Tool;
}): JSX.Element {
  const present = usePresentPath();
  return (
    <ul className="jp-hdspAgent-batch">
      {tool.batchDiffs?.map(({ key, path, diffStats, diffs, content }) => (
        <li key={key}>
          <Fold
            id={`${id}:${key}`}
            summary={
              <>
                {plainName(present(path))}{' '}
                {diffStats && <DiffStats {...diffStats} />}
              </>
            }
          >
            <PlaceLink path={path} />
            <Diff
              id={`${id}:${key}:diff`}
              text={diffs?.map(({ content }) => content).join('\n') ?? content}
            />
          </Fold>
        </li>
      ))}
      {tool.batchFiles?.map(
        ({ key, path, lineSnippet, isOutsideWorkspace }) => (
          <li key={key}>
            <PlaceLink path={path} isOutside={isOutsideWorkspace} />
            {lineSnippet && (
              <span className="jp-hdspAgent-chat-quiet"> {lineSnippet}</span>
            )}
          </li>
        )
      )}
      {tool.batchDirs?.map(({ key, path }) => (
        <li key={key}>
          <PlaceLink path={path} isOutside />
        </li>
      ))}
    </ul>
  );
}
