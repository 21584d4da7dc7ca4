import * as React from 'react';

import { errorText } from '../errors';
import type { ExtensionMessage } from '../generated/wire';
import { focusComposer } from '../ui/focuscomposer';
import { SettingsApi } from '../rest/settingsapi';
import { folderContentLines } from '../settings/foldertexts';
import { FolderTrustData } from '../rest/foldertrustdata';
import { usePanel } from '../ui/services';

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
  if (!trust.isQuestion || trust.value === null) {
    return null;
  }
  const { folder, brings } = trust.value;
  const decide = (trusted: boolean) => {
    // The buttons go with the question.
    focusComposer(node);
    void trust.decide(trusted);
  };
  return (
    <section
      className="jp-hdspAgent-notice jp-hdspAgent-folderTrust"
      data-level="warning"
      aria-label={trans.__('Trust in this folder')}
    >
      <p role="status">
        <strong>{trans.__('Do you trust this folder?')}</strong>{' '}
        {trans.__(
          '%1 contains instructions for the agent. They are used only if you trust this folder.',
          folder
        )}
      </p>
      <ul>
        {folderContentLines(trans, brings).map(line => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {trust.error && <p role="alert">{errorText(trans, trust.error)}</p>}
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
          {trans.__('Don’t use them')}
        </button>
      </div>
    </section>
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
