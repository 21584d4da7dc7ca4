import type { LabIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

/**
 * The first line of something the agent does: its picture, what it is, and
 * what there is to say about it.
 */
export function RowHead({
  icon,
  words,
  children
}: {
  icon: LabIcon;
  words?: React.ReactNode;
  children?: React.ReactNode;
}): JSX.Element {
  const Icon = icon.react;
  return (
    <div className="jp-hdspAgent-chat-tool-head">
      <Icon
        tag="span"
        className="jp-hdspAgent-chat-tool-icon"
        aria-hidden="true"
      />
      {words && <span className="jp-hdspAgent-chat-tool-words">{words}</span>}
      {children}
    </div>
  );
}
