import * as React from 'react';

import type { ExtensionMessage } from '../generated/wire';
import { Notice } from '../ui/controls/notice';
import { ProblemNote } from '../ui/controls/problemnote';
import { focusComposer } from '../ui/focuscomposer';
import { SettingsApi } from '../rest/settingsapi';
import { folderContentLines } from '../settings/foldertexts';
import { FolderTrustData } from '../rest/foldertrustdata';
import { usePanel } from '../ui/services';
import { useDismissed } from '../ui/usedismissed';

/**
 * Asks whether a person trusts the folder of the conversation, if that brings
 * something for the agent. Nothing waits for the answer.
 */
export function FolderTrustQuestion({
  taskId
}: {
  taskId: string | null;
}): JSX.Element | null {
  const { node, trans } = usePanel();
  const trust = useFolderTrust(taskId);
  const asked = trust.isQuestion ? trust.value : null;
  // What it brings may change, and with it whether one trusts it.
  const [isPutAway, putAway] = useDismissed(
    `folder:${trust.value?.folder}`,
    asked === null ? undefined : JSON.stringify(asked.brings)
  );
  if (asked === null || isPutAway) {
    return null;
  }
  const { folder, brings } = asked;
  const decide = (trusted: boolean) => {
    // The buttons go with the question.
    focusComposer(node);
    void trust.decide(trusted);
  };
  return (
    <Notice
      className="jp-hdspAgent-folderTrust"
      role="region"
      aria-label={trans.__('Trust in this folder')}
      level="warning"
      text={`${trans.__('Do you trust this folder?')} ${trans.__(
        '%1 contains instructions for the agent. They are used only if you trust this folder.',
        folder
      )}`}
      textRole="status"
      detailsLabel={trans.__('Review')}
      details={
        <>
          <ul>
            {folderContentLines(trans, brings).map(line => (
              <li key={line}>{line}</li>
            ))}
          </ul>
          <div className="jp-hdspAgent-actions">
            <button
              type="button"
              className="jp-hdspAgent-button"
              disabled={trust.isBusy}
              onClick={() => decide(true)}
            >
              {trans.__('Trust this folder')}
            </button>
            <button
              type="button"
              className="jp-hdspAgent-button"
              disabled={trust.isBusy}
              onClick={() => decide(false)}
            >
              {trans.__("Don't use them")}
            </button>
          </div>
        </>
      }
      onDismiss={putAway}
    >
      <ProblemNote error={trust.error} />
    </Notice>
  );
}

/**
 * How the folder of a conversation stands, as long as the component is there.
 *
 * #### Notes
 * Where it cannot be asked, nothing is shown: what the folder brings is not
 * used then either, and the next state asks again.
 */
function useFolderTrust(taskId: string | null): FolderTrustData {
  const { client, serverSettings } = usePanel();
  const [, update] = React.useReducer((count: number) => count + 1, 0);
  const trust = React.useMemo(
    () => new FolderTrustData(new SettingsApi(serverSettings), taskId),
    [serverSettings, taskId]
  );
  React.useEffect(() => {
    const listen = (_: unknown, { type }: ExtensionMessage) => {
      if (type === 'state' || type === 'folderTrustUpdated') {
        void trust.refresh();
      }
    };
    trust.changed.connect(update);
    client.messageReceived.connect(listen);
    void trust.refresh();
    return () => {
      client.messageReceived.disconnect(listen);
      trust.changed.disconnect(update);
    };
  }, [client, trust]);
  return trust;
}
