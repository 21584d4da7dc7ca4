import { saveIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { momentText } from '../../figures';
import { usePanel } from '../../services';
import type { IRowContent } from './content';
import { RowHead } from './rowhead';

/**
 * The files were kept as they were at a moment: what the agent does after it
 * can be told from what was there before.
 */
export function CheckpointRow({ message, parts: _ }: IRowContent): JSX.Element {
  const { trans } = usePanel();
  return (
    <div className="jp-hdspAgent-chat-note">
      <RowHead
        icon={saveIcon}
        words={
          message.checkpoint?.isFirst === true
            ? trans.__('Checkpoint: the files as they were at first')
            : trans.__('Checkpoint: the files as they were then')
        }
      >
        <time
          className="jp-hdspAgent-chat-quiet"
          dateTime={new Date(message.ts).toISOString()}
        >
          {momentText(message.ts)}
        </time>
      </RowHead>
    </div>
  );
}
