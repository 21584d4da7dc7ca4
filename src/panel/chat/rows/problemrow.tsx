import { bugIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { errorText } from '../../../errors';
import { named } from '../../../state/panel/askanswers';
import { saveFile } from '../../../ui/savefile';
import { useAction } from '../../../ui/useaction';
import { usePanel } from '../../../ui/services';
import { CopyButton } from '../../../ui/controls/copybutton';
import { Fold } from '../../../ui/texts/fold';
import { PlaceLink } from '../../../ui/controls/placelink';
import type { IRowContent } from './rowcontent';
import { problemOf } from './problemtexts';

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
      <div className="jp-hdspAgent-actions">
        {section && (
          <button
            className="jp-hdspAgent-button"
            onClick={() => openSettings(section)}
          >
            {trans.__('Open the settings')}
          </button>
        )}
        <SaveDetails ts={message.ts} />
      </div>
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

/**
 * Saves what a report of this error needs; the server leaves keys out.
 */
function SaveDetails({ ts }: { ts: number }): JSX.Element {
  const { client, store, trans } = usePanel();
  const { isBusy, error, run } = useAction();
  const save = () =>
    void run(async () => {
      const details = await client.request({
        type: 'errorDetails',
        messageTs: ts,
        ...named(store.state?.currentTaskId ?? null)
      });
      saveFile(
        `hdsp-agent-error-${ts}.json`,
        JSON.stringify(details, null, 2),
        'application/json'
      );
    });
  return (
    <>
      <button
        className="jp-hdspAgent-button"
        title={trans.__('Saves a file for a bug report, without keys')}
        aria-disabled={isBusy}
        onClick={save}
      >
        {trans.__('Save details')}
      </button>
      {error && (
        <span className="jp-hdspAgent-chat-trouble" role="alert">
          {errorText(trans, error)}
        </span>
      )}
    </>
  );
}
