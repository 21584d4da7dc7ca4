import type { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

import { errorText } from '../errors';
import type { Notice, SecretStorageStatus } from '../generated/wire';
import { IconButton } from '../ui/controls/iconbutton';

/**
 * What a person should know, each with a way to put it away.
 */
export function ServerNotices({
  notices,
  trouble,
  onDismiss,
  onChooseStorage,
  trans
}: {
  readonly notices: readonly Notice[];

  /**
   * Why keys cannot be kept, if so.
   */
  readonly trouble: SecretStorageStatus | null;
  readonly onDismiss: (id: string) => void;
  readonly onChooseStorage: () => void;
  readonly trans: TranslationBundle;
}): JSX.Element | null {
  // The server may tell the same thing as a notice too, which can be put away.
  const untold =
    trouble && !notices.some(({ code }) => code === trouble.code)
      ? trouble
      : null;
  if (notices.length === 0 && untold === null) {
    return null;
  }
  return (
    <ul className="jp-hdspAgent-notices" aria-label={trans.__('Notices')}>
      {notices.map(notice => (
        <li
          key={notice.id}
          className="jp-hdspAgent-notice"
          data-level={notice.level}
        >
          <p className="jp-hdspAgent-notice-text">
            <strong>{levelLabel(notice.level, trans)}</strong>{' '}
            {errorText(trans, notice)}
          </p>
          <IconButton
            icon={closeIcon}
            label={trans.__('Dismiss')}
            onClick={() => onDismiss(notice.id)}
          />
        </li>
      ))}
      {untold && (
        <li className="jp-hdspAgent-notice" data-level="warning">
          <p className="jp-hdspAgent-notice-text">
            <strong>{levelLabel('warning', trans)}</strong>{' '}
            {errorText(trans, untold)}
          </p>
          <button
            type="button"
            className="jp-hdspAgent-button"
            onClick={onChooseStorage}
          >
            {trans.__('Choose where keys are kept')}
          </button>
        </li>
      )}
    </ul>
  );
}

function levelLabel(level: Notice['level'], trans: TranslationBundle): string {
  switch (level) {
    case 'info':
      return trans.__('Note:');
    case 'warning':
      return trans.__('Warning:');
    case 'error':
      return trans.__('Error:');
  }
}
