import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import { errorText } from '../errors';
import { keyProblem, modelSetup } from '../state/modelsetup';
import type { AgentState } from '../state/store';
import { Notice } from '../ui/controls/notice';
import { useStore } from '../ui/hooks';
import { usePanel } from '../ui/services';
import { useDismissed } from '../ui/usedismissed';

/**
 * What a person should know, each with a way to put it away.
 */
export function ServerNotices(): JSX.Element | null {
  const { store, openSettings, trans } = usePanel();
  const notices = useStore(store, ({ notices }) => notices);
  const state = useStore(store, ({ state }) => state);
  const trouble = state && keyProblem(state);
  // The server may tell the same thing as a notice too.
  const isTold = notices.some(({ code }) => code === trouble?.code);
  const [isPutAway, putAway] = useDismissed('keys', version(state));
  const isNeeded = state !== null && lacksKey(state);
  const untold = isTold || (isPutAway && !isNeeded) ? null : trouble;
  if (notices.length === 0 && untold === null) {
    return null;
  }
  return (
    <ul className="jp-hdspAgent-notices" aria-label={trans.__('Notices')}>
      {notices.map(notice => (
        <li key={notice.id}>
          <Notice
            level={notice.level}
            text={errorText(trans, notice)}
            onDismiss={() => void store.dismissNotice(notice.id)}
          />
        </li>
      ))}
      {untold && (
        <li>
          <Notice
            level="warning"
            text={errorText(trans, untold)}
            actions={[keyStorage(trans, () => openSettings('keys'))]}
            onDismiss={isNeeded ? undefined : putAway}
          />
        </li>
      )}
    </ul>
  );
}

function keyStorage(
  trans: TranslationBundle,
  onClick: () => void
): Notice.IAction {
  return {
    label: trans.__('Key storage'),
    title: trans.__('Choose where keys are kept'),
    onClick
  };
}

/**
 * What is said about the storage of keys; `null` if nothing is, and `undefined`
 * while nobody knows.
 */
function version(state: AgentState | null): string | null | undefined {
  const storage = state?.secretStatus?.storage;
  if (storage === undefined || storage.code === 'checking') {
    return undefined;
  }
  return storage.available
    ? null
    : JSON.stringify([storage.code, storage.params]);
}

/**
 * Whether the agent cannot work because a key is not there.
 */
function lacksKey(state: AgentState): boolean {
  const setup = modelSetup(state);
  return setup.kind === 'chosen' && setup.isKeyMissing;
}
