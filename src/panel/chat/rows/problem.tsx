import { bugIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { usePanel } from '../../services';
import { CopyButton } from '../copybutton';
import { Fold } from '../fold';
import { PlaceLink } from '../placelink';
import type { IRowContent } from './content';
import { problemOf } from './problemwords';

/**
 * What went wrong, and what can be done about it.
 */
export function ProblemRow({ message }: IRowContent): JSX.Element {
  const { openSettings, trans } = usePanel();
  const { title, text, details, advice, section } = problemOf(message, trans);
  return (
    <div className="jp-hdspAgent-chat-problem">
      <div className="jp-hdspAgent-chat-problem-head">
        <bugIcon.react tag="span" aria-hidden="true" />
        <span className="jp-hdspAgent-chat-problem-title">{title}</span>
        <CopyButton
          text={[title, text, details].filter(Boolean).join('\n\n')}
          label={trans.__('Copy this error')}
        />
      </div>
      {text && <p className="jp-hdspAgent-chat-problem-text">{text}</p>}
      {advice && <p className="jp-hdspAgent-chat-problem-advice">{advice}</p>}
      {message.notebook && (
        <PlaceLink
          path={message.notebook.path}
          cellId={message.notebook.cellId}
        />
      )}
      {section && (
        <button
          className="jp-hdspAgent-button"
          onClick={() => openSettings(section)}
        >
          {trans.__('Open the settings')}
        </button>
      )}
      {details && (
        <Fold id={`${message.ts}:details`} summary={trans.__('Details')}>
          <pre className="jp-hdspAgent-chat-plain" tabIndex={0}>
            {details}
          </pre>
        </Fold>
      )}
    </div>
  );
}
